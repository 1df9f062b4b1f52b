/** A page of a builder's origin that sends requests with the token of its user. */
import { beforeAll, expect, test } from 'vitest';
import { CREATE_SESSION_TOKEN } from '../support/fixtures/end-users.ts';
import { type PagesStage, serveEmptyPage } from './stage.ts';

interface Sent {
  query: string;
  variables?: object;
}

const QUERY_VIEWER = { query: '{ viewer { kind project { name connections { totalCount } } } }' };
const GENERATE_CONNECTION = {
  query: `mutation GenerateConnection($input: GenerateConnectionInput!) {
    generateConnection(input: $input) { connection { id group { groupRef } } }
  }`,
  variables: {
    input: {
      projectIdOrName: 'demo',
      provider: 'sandbox',
      groupRef: 'shop',
      consumerRef: 'eve',
      credentials: { apiKey: 'sandbox-key' },
    },
  },
};
const CREATE_INSTALLATION = {
  query: `mutation CreateInstallation($input: CreateInstallationInput!) {
    createInstallation(input: $input) { installation { id } }
  }`,
  variables: {
    input: {
      projectIdOrName: 'demo',
      integrationIdOrName: 'crm-sync',
      groupRef: 'shop',
      skipSampling: true,
    },
  },
};
const TRIGGER_READ = {
  query: `mutation TriggerRead($input: TriggerReadInput!) { triggerRead(input: $input) { operation { id } } }`,
  variables: {
    input: {
      projectIdOrName: 'demo',
      integrationIdOrName: 'crm-sync',
      objectName: 'contacts',
      groupRef: 'shop',
    },
  },
};
const SUBSCRIBE_TO_OPERATION =
  'subscription FollowOperation($id: ID!) { operation(id: $id) { id } }';

export function testEndUserPage(getStage: () => PagesStage) {
  let allowedOrigin: string;
  let otherOrigin: string;
  let token: string;

  /** Sends a query as the builder's backend. */
  async function sendAsBackend(query: string, variables: object) {
    const { url, apiKey } = getStage().server.demo;
    const response = await fetch(`${url}/graphql`, {
      method: 'POST',
      headers: { 'content-type': 'application/json', 'x-api-key': apiKey },
      body: JSON.stringify({ query, variables }),
    });
    return ((await response.json()) as { data: Record<string, never> }).data;
  }

  beforeAll(async () => {
    const pages = [await serveEmptyPage(), await serveEmptyPage()];
    [allowedOrigin, otherOrigin] = pages.map(({ origin }) => origin) as [string, string];
    const project = { projectIdOrName: 'demo' };
    await sendAsBackend(
      'mutation UpdateProject($input: UpdateProjectInput!) { updateProject(input: $input) { project { id } } }',
      {
        input: { ...project, allowedOrigins: [allowedOrigin] },
      },
    );
    const tokenData = await sendAsBackend(CREATE_SESSION_TOKEN, {
      input: { ...project, groupRef: 'shop', consumerRef: 'eve' },
    });
    token = (tokenData.createSessionToken as unknown as { token: string }).token;
    return async () => {
      for (const page of pages) await page[Symbol.asyncDispose]();
    };
  });

  /** Returns the response to an operation of a page of the origin, or null if the browser blocks it. */
  async function sendFrom(origin: string, headers: Record<string, string>, sent: Sent) {
    const page = await getStage().browser.newPage();
    await page.goto(origin);
    const response = await page.evaluate(
      async ({ to, given, body }) => {
        const init = { method: 'POST', headers: { 'content-type': 'application/json', ...given } };
        return fetch(to, { ...init, body: JSON.stringify(body) }).then(
          (response) => response.json(),
          () => null,
        );
      },
      { to: `${getStage().server.demo.url}/graphql`, given: headers, body: sent },
    );
    await page.close();
    return response;
  }

  /** Returns the first message of a subscription over a WebSocket, or the code of its close. */
  async function listenFrom(origin: string, payload: object, sent: Sent) {
    const page = await getStage().browser.newPage();
    await page.goto(origin);
    const message = await page.evaluate(
      ({ to, init, body }) =>
        new Promise<unknown>((resolve) => {
          const socket = new WebSocket(to, 'graphql-transport-ws');
          socket.onclose = ({ code }) => resolve({ code });
          socket.onopen = () =>
            socket.send(JSON.stringify({ type: 'connection_init', payload: init }));
          socket.onmessage = ({ data }) => {
            const message = JSON.parse(data);
            if (message.type === 'next') resolve(message.payload.data);
            if (message.type !== 'connection_ack') return;
            socket.send(JSON.stringify({ type: 'subscribe', id: '1', payload: body }));
          };
        }),
      {
        to: `${getStage().server.demo.url.replace('http', 'ws')}/graphql`,
        init: payload,
        body: sent,
      },
    );
    await page.close();
    return message;
  }

  test('serves queries, connections and subscriptions to a page of an allowed origin', async () => {
    const headers = { authorization: `Bearer ${token}` };
    const { data } = await sendFrom(allowedOrigin, headers, QUERY_VIEWER);
    expect(data.viewer).toEqual({
      kind: 'END_USER',
      project: { name: 'demo', connections: { totalCount: 0 } },
    });
    const connectResult = await sendFrom(allowedOrigin, headers, GENERATE_CONNECTION);
    expect(connectResult.data.generateConnection.connection.group).toEqual({ groupRef: 'shop' });
    await sendFrom(allowedOrigin, headers, CREATE_INSTALLATION);
    const { data: read } = await sendFrom(allowedOrigin, headers, TRIGGER_READ);
    const { id } = read.triggerRead.operation;
    const follow = { query: SUBSCRIBE_TO_OPERATION, variables: { id } };
    expect(await listenFrom(allowedOrigin, headers, follow)).toEqual({ operation: { id } });
  });

  test('refuses a page of another origin, and one with an API key', async () => {
    const headers = { authorization: `Bearer ${token}` };
    const key = { 'x-api-key': getStage().server.demo.apiKey };
    expect(await sendFrom(otherOrigin, headers, QUERY_VIEWER)).toBeNull();
    expect(await sendFrom(otherOrigin, key, QUERY_VIEWER)).toBeNull();
    const { errors, data } = await sendFrom(allowedOrigin, key, QUERY_VIEWER);
    expect(data ?? null).toBeNull();
    expect(errors[0].extensions.code).toBe('FORBIDDEN');
    expect(errors[0].message).toContain('createSessionToken');
    const follow = { query: SUBSCRIBE_TO_OPERATION, variables: { id: 'none' } };
    expect(await listenFrom(otherOrigin, headers, follow)).toEqual({ code: 1006 });
    expect(await listenFrom(allowedOrigin, key, follow)).toEqual({ code: 4403 });
  });
}
