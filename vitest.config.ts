import { defineConfig } from 'vitest/config';

export default defineConfig({
  test: {
    include: ['test/**/*.test.ts'],
    exclude: ['test/vscode/**', 'test/e2e/**', 'test/.artifacts/**', '**/node_modules/**'],
    // ONNX Runtime keeps native threads: processes end cleanly where threads may not.
    pool: 'forks',
    maxWorkers: 2,
    testTimeout: 60_000,
  },
});
