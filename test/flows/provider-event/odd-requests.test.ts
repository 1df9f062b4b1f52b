/**
 * The endpoint for provider events refuses or ignores invalid requests, and never fails.
 *
 * @module-tag all/walk
 */
import { beforeAll, expect, test } from 'vitest';
import { createRandom } from '../../faults/fixtures/random.ts';
import { getSharedApp } from '../../support/app.ts';
import {
  createEventsBody,
  createSentEvent,
  installWithInbox,
  type SentRequest,
  signRequest,
  WEBHOOK_SECRET,
} from '../../support/fixtures/signed-events.ts';
import { HOSTILE_JSON, HOSTILE_TEXTS } from '../../support/fuzz/fuzz-values.ts';

const REQUEST_COUNT = 1_000;
const SEED = Number(process.env.FUZZ_SEED ?? 1);
const TOLERANCE_SECONDS = 5 * 60;

/** The statuses of the response to each kind of request. */
const STATUSES: Record<string, number[]> = {
  ...{ forged: [401], replayed: [401], truncated: [401], malformedSignature: [401] },
  ...{ truncatedAndSigned: [400], malformedBody: [400], malformedEvent: [400] },
  ...{ randomBytes: [400], invalidTime: [400], oversized: [413] },
  // A changed byte may make the body invalid JSON, which is refused before the signature is checked.
  ...{ changed: [400, 401], compressed: [415], otherMethod: [405] },
  // The secret of the app does not sign requests to another provider.
  wrongPath: [401, 404],
  // The provider may send these events. They match no subscription, so they are accepted and not stored.
  ...{ unknownAccount: [204], unknownObject: [204], unwantedType: [204] },
};

const app = await getSharedApp();
const { prisma } = app.app.services.database;
let url = '';
beforeAll(async () => {
  ({ url } = await app.app.start());
});

interface InvalidRequest extends SentRequest {
  path: string;
}

const send = (path: string, request: SentRequest) => fetch(url + path, request);

test(`stores none of ${REQUEST_COUNT} forged, replayed, truncated, oversized or malformed requests, and never fails`, async () => {
  const tenant = await app.createTenant();
  const { providerAppId, account } = await installWithInbox(app, tenant);
  const random = createRandom(SEED);
  const pick = <T>(choices: readonly T[]): T => choices[Math.floor(random() * choices.length)] as T;
  const path = `/webhooks/sandbox/${providerAppId}`;
  const createEvent = (overrides: object = {}) => createSentEvent(account, overrides);
  const createSigned = (body: Buffer<ArrayBuffer>, keys = {}): InvalidRequest => ({
    path,
    ...signRequest(body, keys),
  });
  const cut = (body: Buffer<ArrayBuffer>) =>
    body.subarray(0, Math.floor(random() * (body.length - 1)));
  const largeBody = createEventsBody(createEvent({ recordId: 'x'.repeat(1024 * 1024) }));
  const createByKind: Record<string, () => InvalidRequest> = {
    forged: () =>
      createSigned(createEventsBody(createEvent()), {
        secret: `${WEBHOOK_SECRET}${pick(HOSTILE_TEXTS)}!`,
      }),
    replayed: () => {
      const ageSeconds = TOLERANCE_SECONDS + 5 + Math.floor(random() * 1e6);
      return createSigned(createEventsBody(createEvent()), {
        ageSeconds: pick([ageSeconds, -ageSeconds]),
      });
    },
    truncated: () => {
      const validRequest = createSigned(createEventsBody(createEvent()));
      return { ...validRequest, body: cut(validRequest.body) };
    },
    truncatedAndSigned: () => createSigned(cut(createEventsBody(createEvent()))),
    changed: () => {
      const { body, ...otherMembers } = createSigned(createEventsBody(createEvent()));
      const changedBody = Buffer.from(body);
      const position = Math.floor(random() * changedBody.length);
      changedBody[position] = (changedBody[position] ?? 0) ^ (1 + Math.floor(random() * 255));
      return { ...otherMembers, body: changedBody };
    },
    oversized: () => createSigned(largeBody),
    malformedSignature: () => {
      const { headers: _none, ...withoutHeaders } = createSigned(createEventsBody(createEvent()));
      const seconds = Math.floor(Date.now() / 1_000);
      const signatures = [
        `t=${seconds},v1=${'0'.repeat(64)}`,
        '',
        't=,v1=',
        `t=${seconds}`,
        `t=${seconds},v1=`,
        't=9e99,v1=00',
        'v1=ff,t=1',
      ];
      return {
        ...withoutHeaders,
        headers: { 'x-sandbox-signature': pick(signatures) },
      };
    },
    malformedBody: () =>
      createSigned(Buffer.from(JSON.stringify(pick<unknown>([...HOSTILE_JSON, 7, [], null])))),
    randomBytes: () =>
      createSigned(Buffer.from(Array.from({ length: 64 }, () => Math.floor(random() * 256)))),
    malformedEvent: () => {
      const member = pick(['id', 'type', 'account', 'objectName', 'recordId', 'occurredAt']);
      return createSigned(
        createEventsBody(
          createEvent(),
          createEvent({ [member]: pick<unknown>([7, null, [], {}, 'x'.repeat(600)]) }),
        ),
      );
    },
    invalidTime: () =>
      createSigned(
        createEventsBody(
          createEvent({ occurredAt: pick(['0000-00-00', '+275760-09-13T00:00:00Z', '']) }),
        ),
      ),
    unknownAccount: () =>
      createSigned(createEventsBody(createEvent({ account: pick(HOSTILE_TEXTS).slice(0, 256) }))),
    unknownObject: () =>
      createSigned(
        createEventsBody(createEvent({ objectName: pick(HOSTILE_TEXTS).slice(0, 128) })),
      ),
    unwantedType: () =>
      createSigned(
        createEventsBody(createEvent({ type: pick(['contacts.merged', 'x', '__proto__']) })),
      ),
    compressed: () => {
      const { headers, ...otherMembers } = createSigned(createEventsBody(createEvent()));
      return {
        ...otherMembers,
        headers: { ...headers, 'content-encoding': pick(['gzip', 'br', 'x']) },
      };
    },
    wrongPath: () => {
      const unknownApp = path.replace(/.{4}$/, '0000');
      const paths = [
        unknownApp,
        `${path}/more`,
        '/webhooks/sandbox/x',
        '/webhooks/x/x',
        `${path}%00`,
      ];
      const hubspot = path.replace('sandbox', 'hubspot');
      return {
        ...createSigned(createEventsBody(createEvent())),
        path: pick([...paths, hubspot, '/webhooks//']),
      };
    },
    otherMethod: () => ({
      ...createSigned(createEventsBody(createEvent())),
      method: pick(['PUT', 'PATCH', 'DELETE']),
    }),
  };
  const kinds = Object.keys(createByKind);
  for (let index = 0; index < REQUEST_COUNT; index += 1) {
    const kind = kinds[index % kinds.length] as string;
    const { path: requestPath, ...request } = (createByKind[kind] as () => InvalidRequest)();
    const { status } = await send(requestPath, request);
    const description = `request ${index}, ${kind}, seed ${SEED}`;
    expect(STATUSES[kind], description).toContain(status);
  }
  const { projectId } = tenant;
  expect(await prisma.providerEvent.count({ where: { projectId } })).toBe(0);
  // The endpoint stores a valid event.
  const { path: requestPath, ...validRequest } = createSigned(createEventsBody(createEvent()));
  expect((await send(requestPath, validRequest)).status).toBe(204);
  expect(await prisma.providerEvent.count({ where: { projectId } })).toBe(1);
});
