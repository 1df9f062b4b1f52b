import { expect, test } from 'vitest';
import { sharedApp } from '../support/app.ts';
import { installReading, startReading } from '../support/reads.ts';

const app = await sharedApp();
const { sandbox } = app.app;

test('the first read is the whole history, mapped and owed to the destination', async () => {
  sandbox.seed('contacts', 450);
  const tenant = await app.tenant();
  const reading = await installReading(app, tenant, {
    object: {
      optionalFields: [{ fieldName: 'phone', mapToName: 'telephone' }],
      optionalFieldsAuto: 'all',
    },
  });
  await reading.makeDue();
  await using _workers = await startReading(app);
  const [operation] = await reading.ended(1);
  expect(operation).toMatchObject({
    status: 'SUCCESS',
    result: '[contacts] Read completed (450 records)',
  });
  const messages = await reading.messages();
  console.log(
    messages.map((m) => m.resultInfo),
    messages[0],
    messages[0]!.result[0],
  );
  console.log(await reading.object());
});
