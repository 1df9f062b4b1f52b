/** Tests that events find the account of a connection, however a person spells its name. */
import { expect, test } from 'vitest';
import { DECLARED } from '../../../src/providers/declared/all.ts';
import { WIRE_EVENTS } from '../../support/wire/events/all.ts';

const NOW = new Date('2026-01-01T12:00:00Z');
const URL = 'https://gateway.example/webhooks/vendor/app_1';

/** Returns the account of a connection to the workspace, and the account of an event that names the workspace. */
function findAccounts(name: string, workspace: string, nameInEvent: string) {
  const subscribe = DECLARED.find((provider) => provider.name === name)?.capabilities.subscribe;
  const wire = WIRE_EVENTS[name];
  const sent = wire?.send({ kind: 'CREATE', sequence: 1, sentAt: NOW, secret: 'secret' });
  const usual = wire?.connection?.providerWorkspaceRef ?? '';
  const replaceName = (text: string) => text.replaceAll(usual, nameInEvent);
  const headers = Object.fromEntries(
    Object.entries(sent?.headers ?? {}).map(([header, value]) => [header, replaceName(value)]),
  );
  const request = {
    method: 'POST',
    url: URL,
    headers,
    body: Buffer.from(replaceName(sent?.body ?? '')),
  };
  const [event] = subscribe?.requests?.parseEvents(request, { now: NOW, subscription: null }) ?? [];
  const connection = { id: 'con_1', providerWorkspaceRef: workspace };
  return { ofConnection: subscribe?.findAccount(connection, () => null), ofEvent: event?.account };
}

test.each([
  ['shopify', 'My-Store', 'my-store', 'my-store.myshopify.com'],
  ['shopify', 'my-store', 'My-Store', 'my-store.myshopify.com'],
  ['github', 'octo-corp', 'Octo-Corp', 'octo-corp'],
  ['github', 'Octo-Corp', 'octo-corp', 'octo-corp'],
])('%s: finds the account of the workspace %s if events name it %s', (name, workspace, nameInEvent, account) => {
  expect(findAccounts(name, workspace, nameInEvent)).toEqual({
    ofConnection: account,
    ofEvent: account,
  });
});

test('stripe: distinguishes accounts whose ids differ only in case', () => {
  const { ofConnection, ofEvent } = findAccounts('stripe', 'acct_1aB', 'acct_1AB');
  expect(ofConnection).toBe('acct_1aB');
  expect(ofEvent).toBe('acct_1AB');
});
