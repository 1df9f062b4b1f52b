/**
 * An attacker sends ten times its share of synchronous writes next to a quiet tenant.
 *
 * @module-tag all/rows
 */
import { expect, test, vi } from 'vitest';
import { getSharedApp } from '../../support/app.ts';
import { CALLER_STATEMENTS, recordStatements } from '../../support/database/statements.ts';
import { createContact, createWriter, WRITE_RECORDS } from '../../support/fixtures/writes.ts';
import type { GraphqlResponse } from '../../support/graphql-client.ts';

const CALLER_SHARE = 4;
const ATTACK_WRITES = 10 * CALLER_SHARE;
const app = await getSharedApp({
  env: { LIMIT_PROVIDER_REQUESTS: '16', LIMIT_CALLER_PROVIDER_REQUESTS: String(CALLER_SHARE) },
});
const { sandbox, services } = app.app;
/** Must be longer than the test takes until it awaits the attacker's writes. */
const DELAY_MS = 5_000;

test('refuses synchronous writes over a share before they are stored, and serves other tenants', async () => {
  const [attacker, quiet] = [await createWriter(app), await createWriter(app)];
  sandbox.faults.set({ pathPrefix: '/objects', delayMs: DELAY_MS, times: CALLER_SHARE });
  const takeFault = vi.spyOn(sandbox.faults, 'take');
  const refusals: GraphqlResponse[] = [];
  const attackWrites = Array.from({ length: ATTACK_WRITES }, async () => {
    const response = await attacker.request(
      WRITE_RECORDS,
      attacker.createVariables({ record: createContact() }),
    );
    if (response.errors) refusals.push(response);
    return response;
  });
  await expect.poll(() => refusals.length).toBe(ATTACK_WRITES - CALLER_SHARE);
  for (const { status, headers, errors } of refusals) {
    expect([status, headers.get('retry-after')]).toEqual([429, '1']);
    expect(errors?.[0]?.extensions.problem).toMatchObject({
      limit: 'LIMIT_CALLER_PROVIDER_REQUESTS',
    });
  }
  // The accepted writes send no statements while they wait for the provider.
  const countDelayed = () => takeFault.mock.results.filter(({ value }) => value !== null).length;
  await expect.poll(countDelayed).toBe(CALLER_SHARE);
  const { result, statements } = await recordStatements(() =>
    attacker.request(WRITE_RECORDS, attacker.createVariables({ record: createContact() })),
  );
  expect(result.status).toBe(429);
  // A refusal reads only its project.
  const texts = statements.map(({ text }) => text).filter((text) => !CALLER_STATEMENTS.test(text));
  expect(texts).toEqual([expect.stringContaining('from "Project"')]);
  sandbox.faults.clear();
  for (let count = 0; count < ATTACK_WRITES; count += 1) {
    expect(await quiet.write({ record: createContact() })).toMatchObject({ successCount: 1 });
  }
  const responses = await Promise.all(attackWrites);
  const acceptedResponses = responses.filter(({ errors }) => !errors);
  for (const { data } of acceptedResponses) expect(data.writeRecords.successCount).toBe(1);
  // No refused write was stored, and no accepted write is lost.
  const { projectId } = attacker;
  expect(await services.database.prisma.operation.count({ where: { projectId } })).toBe(
    CALLER_SHARE,
  );
});
