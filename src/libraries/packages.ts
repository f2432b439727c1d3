/**
 * The libraries that a provider needs and that are too large to come with Softbench: what they are, where their
 * publisher keeps them, and what they must be to the byte. One row a package.
 *
 * `cuda`: npm's onnxruntime-node comes without the CUDA provider. The same project publishes it on the Python Package
 * Index, in the wheel onnxruntime-gpu (a zip archive). Both 1.30.0 files name the same commit in their build
 * information (f2c39fe2f). The wheel's build_and_package_info.py says CUDA 13.0.
 *
 * Sizes and digests: as the index publishes them, and computed again from the downloaded files.
 */

export interface Archive {
  /** Name of the file at its publisher. */
  file: string;
  url: string;
  bytes: number;
  sha256: string;
  /** Paths in the archive that are kept, as `lib/<name>`. */
  files: readonly string[];
  /** The archive's licence text, kept beside them. */
  licence: string;
}

export interface LibraryPackage {
  name: string;
  /** What it is, in words for a dialog. */
  title: string;
  version: string;
  /** The version of ONNX Runtime that loads it; null where any does. */
  onnxruntime: string | null;
  /** `process.platform/process.arch` */
  platform: string;
  publisher: string;
  licence: { name: string; url: string };
  /** What else the machine must have. */
  needs: string;
  /** Bytes of the kept files together, once unpacked. */
  unpackedBytes: number;
  archives: readonly Archive[];
}

const pypi = 'https://files.pythonhosted.org/packages';
const nvidiaLicence = 'License.txt';

const onnxRuntimeVersion = '1.30.0';

export const libraryPackages: readonly LibraryPackage[] = [
  {
    name: 'cuda',
    title: "ONNX Runtime's CUDA provider",
    version: '1.30.0',
    onnxruntime: onnxRuntimeVersion,
    platform: 'linux/x64',
    publisher: 'Microsoft (onnxruntime-gpu on the Python Package Index)',
    licence: { name: 'MIT', url: 'https://github.com/microsoft/onnxruntime/blob/v1.30.0/LICENSE' },
    needs: 'An NVIDIA driver of series 580 or newer, CUDA 13 and cuDNN 9 (the package cuda-runtime has those two).',
    unpackedBytes: 272_064_536,
    archives: [
      {
        file: 'onnxruntime_gpu-1.30.0-cp312-cp312-manylinux_2_28_x86_64.whl',
        url: `${pypi}/9e/80/d96143329dbe925d434b016c890a5caa785fac8e14a1570e5d6818b63545/onnxruntime_gpu-1.30.0-cp312-cp312-manylinux_2_28_x86_64.whl`,
        bytes: 246_685_715,
        sha256: '6acc0f4b3d5ac5f2984432faa59dd8fcce6775f8b43a7140afa0f322c7a703b1',
        files: [
          'onnxruntime/capi/libonnxruntime_providers_cuda.so',
          'onnxruntime/capi/libonnxruntime_providers_shared.so',
        ],
        licence: 'onnxruntime/LICENSE',
      },
    ],
  },
  {
    name: 'cuda-runtime',
    title: "NVIDIA's CUDA 13 and cuDNN 9 libraries",
    version: '13.5.37',
    onnxruntime: null,
    platform: 'linux/x64',
    publisher: 'NVIDIA (nvidia-* on the Python Package Index)',
    licence: { name: 'NVIDIA proprietary', url: 'https://docs.nvidia.com/cuda/eula/' },
    needs: 'An NVIDIA driver of series 580 or newer.',
    unpackedBytes: 1_803_147_464,
    archives: [
      {
        file: 'nvidia_cuda_runtime-13.5.37-py3-none-manylinux2014_x86_64.manylinux_2_17_x86_64.whl',
        url: `${pypi}/0b/7c/14b8f5518f8951e9dca57ea80f44f8ea8bcc8671812e6cc38009f3205e57/nvidia_cuda_runtime-13.5.37-py3-none-manylinux2014_x86_64.manylinux_2_17_x86_64.whl`,
        bytes: 2_504_024,
        sha256: 'df2b79a8852f10d1fef8c848489c49eebb5754051bf870202a862831412b179d',
        files: ['nvidia/cu13/lib/libcudart.so.13'],
        licence: `nvidia_cuda_runtime-13.5.37.dist-info/licenses/${nvidiaLicence}`,
      },
      {
        file: 'nvidia_cublas-13.10.0.20-py3-none-manylinux1_x86_64.manylinux_2_5_x86_64.whl',
        url: `${pypi}/b4/12/16628161ed8c109c8c73b38167df50cbc630a8a6e6548e2534d461526c3c/nvidia_cublas-13.10.0.20-py3-none-manylinux1_x86_64.manylinux_2_5_x86_64.whl`,
        bytes: 444_289_903,
        sha256: 'dcc6d63884c53d07e267ce7e6feac17b2538cebaafec5db865736c3e28e4dc84',
        files: ['nvidia/cu13/lib/libcublas.so.13', 'nvidia/cu13/lib/libcublasLt.so.13'],
        licence: `nvidia_cublas-13.10.0.20.dist-info/licenses/${nvidiaLicence}`,
      },
      {
        file: 'nvidia_curand-10.4.5.25-py3-none-manylinux_2_27_x86_64.whl',
        url: `${pypi}/12/63/636e5dc9afb2959bfc0042a357d5567358df829b66c96d9fc36d77dc0596/nvidia_curand-10.4.5.25-py3-none-manylinux_2_27_x86_64.whl`,
        bytes: 77_113_015,
        sha256: '22bb226a857e5888fe6b54ae465fc4371296bcff13a35f79e19691bcf454f529',
        files: ['nvidia/cu13/lib/libcurand.so.10'],
        licence: `nvidia_curand-10.4.5.25.dist-info/licenses/${nvidiaLicence}`,
      },
      {
        // cuDNN compiles some of its kernels when they are first used.
        file: 'nvidia_cuda_nvrtc-13.5.37-py3-none-manylinux2010_x86_64.manylinux_2_12_x86_64.whl',
        url: `${pypi}/a9/54/db4e7f650746265f61c05cf1f8f556dd8c6739b58c823fbc9a7d6fda3247/nvidia_cuda_nvrtc-13.5.37-py3-none-manylinux2010_x86_64.manylinux_2_12_x86_64.whl`,
        bytes: 58_185_930,
        sha256: '86b4d68058807988b7d9af5b44917a0601e9c337f35ccd657bfb3c759ff8d8bc',
        files: ['nvidia/cu13/lib/libnvrtc.so.13', 'nvidia/cu13/lib/libnvrtc-builtins.so.13.5'],
        licence: `nvidia_cuda_nvrtc-13.5.37.dist-info/licenses/${nvidiaLicence}`,
      },
      {
        // ONNX Runtime's CUDA reductions ask for a cuDNN handle, so gradients need it.
        file: 'nvidia_cudnn_cu13-9.28.1.4-py3-none-manylinux_2_27_x86_64.whl',
        url: `${pypi}/ef/6f/94535c450d44a68ef0b43d7a5e54c0e5ecda2ca3db7daec5d54c8d94e0d8/nvidia_cudnn_cu13-9.28.1.4-py3-none-manylinux_2_27_x86_64.whl`,
        bytes: 516_817_937,
        sha256: 'a54f205b1db1f2895d99f398754db1369816f0569dd459731f925635cf7b65ec',
        files: [
          'libcudnn.so.9',
          'libcudnn_adv.so.9',
          'libcudnn_cnn.so.9',
          'libcudnn_engines_precompiled.so.9',
          'libcudnn_engines_runtime_compiled.so.9',
          'libcudnn_engines_tensor_ir.so.9',
          'libcudnn_ext.so.9',
          'libcudnn_graph.so.9',
          'libcudnn_heuristic.so.9',
          'libcudnn_ops.so.9',
        ].map((name) => `nvidia/cudnn/lib/${name}`),
        licence: `nvidia_cudnn_cu13-9.28.1.4.dist-info/licenses/${nvidiaLicence}`,
      },
    ],
  },
];

export const packageNames = libraryPackages.map(({ name }) => name);

/** Bytes to be fetched for a package. */
export const downloadBytes = ({ archives }: LibraryPackage): number =>
  archives.reduce((sum, { bytes }) => sum + bytes, 0);
