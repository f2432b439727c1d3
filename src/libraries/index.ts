/** Libraries of execution providers that are fetched on the user's consent, checked, and kept outside of the product. */
export { consentLines, type InstallProgress, installPackage, packageFor, removePackage } from './install.ts';
export { downloadBytes, type LibraryPackage, libraryPackages, packageNames } from './packages.ts';
export {
  findPackage,
  folderVariable,
  librariesFolder,
  libraryEnvironment,
  type PackageState,
  packageState,
} from './place.ts';
