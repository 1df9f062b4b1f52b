import { defineConfig } from 'prisma/config';

// The CLI would download a schema engine that `prisma generate` doesn't use: any existing file will do.
process.env.PRISMA_SCHEMA_ENGINE_BINARY ??= process.execPath;

export default defineConfig({
  schema: 'schema.prisma',
  migrations: { path: 'migrations' },
});
