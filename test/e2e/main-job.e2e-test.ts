import { Workbench } from './workbench.ts';

describe('the main job, by clicks', function () {
  this.timeout(240_000);
  let workbench: Workbench;

  before(async () => {
    workbench = await Workbench.open({ name: 'main-job' });
  });
  afterEach(async function () {
    if (this.currentTest?.state === 'failed')
      await workbench.screenshot(`failed-${this.currentTest.title.replace(/\W+/g, '-')}`);
  });
  after(() => workbench?.close());

  it('shows the extension in the activity bar', async () => {
    await workbench.showSidePanel();
    await workbench.screenshotInThemes('0-side-panel');
  });
});
