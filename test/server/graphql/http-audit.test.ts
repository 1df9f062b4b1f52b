/** What the specification GraphQL over HTTP asks for, and recommends, by its own audit. */
import { serverAudits } from 'graphql-http';
import { expect, test } from 'vitest';
import { sharedApp } from '../../support/app.ts';

const app = await sharedApp();
const { url } = await app.app.start();
const audits = serverAudits({ url: `${url}/graphql` });

test('the audit has all of its parts', () => {
  expect(audits).toHaveLength(61);
});

test.each(audits)('$id $name', async ({ fn }) => {
  expect(await fn()).toMatchObject({ status: 'ok' });
});
