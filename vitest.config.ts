import { defineConfig } from 'vitest/config';

/** Tests that reach the database run on both; the others once. */
const onBoth = ['test/{domain,graphql,flows,database,events,jobs,deliveries}/**/*.test.ts'];

const common = {
  globalSetup: 'test/support/global-setup.ts',
  testTimeout: 30_000,
  hookTimeout: 60_000,
  // Tests run as the product does: Node itself, no bundler between.
  experimental: { viteModuleRunner: false },
};

export default defineConfig({
  test: {
    maxWorkers: 2,
    projects: [
      {
        test: {
          ...common,
          name: 'embedded',
          include: ['test/**/*.test.ts'],
          exclude: ['test/faults/**'],
          env: { TEST_DATABASE: 'embedded' },
        },
      },
      {
        // Through Yoga's own handler, where the embedded runs take the short way.
        test: {
          ...common,
          name: 'postgres',
          include: onBoth,
          env: { TEST_DATABASE: 'postgres', TEST_FRONT: 'yoga' },
        },
      },
      {
        test: {
          ...common,
          name: 'yoga',
          include: ['test/{server,clients,contract}/**/*.test.ts'],
          env: { TEST_DATABASE: 'embedded', TEST_FRONT: 'yoga' },
        },
      },
    ],
  },
});
