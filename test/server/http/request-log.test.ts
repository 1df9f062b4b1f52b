import { expect, test } from 'vitest';
import { createLog } from '../../../src/kernel/log.ts';
import { createTestApp } from '../../support/app.ts';

test('logs requests at info, and those for files of pages at debug', async () => {
  const lines: Record<string, unknown>[] = [];
  const log = createLog('debug', { write: (line) => void lines.push(JSON.parse(line)) });
  await using app = await createTestApp({ log });
  await app.fetch('/livez');
  await app.fetch('/connect.js');
  await app.fetch('/v1/docs/static/theme/theme.js');
  await app.fetch('/console/assets/missing.js');
  const listLevels = () =>
    Object.fromEntries(
      lines.filter(({ msg }) => msg === 'request.ended').map(({ path, level }) => [path, level]),
    );
  await expect.poll(listLevels).toEqual({
    '/livez': 'info',
    '/connect.js': 'debug',
    '/v1/docs/static/theme/theme.js': 'debug',
    '/console/assets/missing.js': 'info',
  });
});
