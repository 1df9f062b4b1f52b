/** Runs the audit of the GraphQL over HTTP specification: requirements and recommendations. */
import { serverAudits } from 'graphql-http';
import { expect, test } from 'vitest';
import { getSharedApp } from '../../support/app.ts';

const app = await getSharedApp();
const { url } = await app.app.start();
const audits = serverAudits({ url: `${url}/graphql` });

test('runs the whole audit', () => {
  expect(audits).toHaveLength(61);
});

test.each(audits)('$id $name', async ({ fn }) => {
  expect(await fn()).toMatchObject({ status: 'ok' });
});
