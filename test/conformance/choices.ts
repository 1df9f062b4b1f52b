/** Choices that the reference API leaves open: required fields of integrations, and further event types of routes. */
import { expect } from 'vitest';
import { withValue } from '../support/conformance/json-paths.ts';
import {
  ACCEPTED,
  type BodyEndpoint,
  createOutcomeRule,
  matchRefusal,
} from '../support/conformance/outcome.ts';
import type { Choice, Section } from '../support/conformance/rule.ts';
import { integrationBody } from './bodies-of-integrations.ts';

const content = 'latestRevision.content';
const readObject = `${content}.read.objects[0]`;
const REQUIRED_PATHS = [
  'name',
  'provider',
  'latestRevision',
  'latestRevision.specVersion',
  content,
  `${content}.name`,
  `${content}.provider`,
  `${readObject}.objectName`,
  `${readObject}.destination`,
];
const OPTIONAL_PATHS = [
  `${content}.displayName`,
  `${content}.write`,
  `${content}.proxy`,
  `${readObject}.schedule`,
  `${readObject}.optionalFields`,
  `${readObject}.optionalFieldsAuto`,
  `${readObject}.delivery`,
  `${readObject}.enabled`,
];
const getMemberName = (path: string) => path.split('.').at(-1) as string;

const integrationChoices: Choice[] = [
  {
    open: 'Required fields of an integration',
    ...createOutcomeRule(
      'Names, providers, the revision with its version and content, and the name and the destination of each read object are required.',
      integrationBody,
      async (fetchOutcome, fixture) => {
        const createBody = async () => integrationBody.createCompleteBody(fixture);
        for (const path of REQUIRED_PATHS) {
          const outcome = await fetchOutcome(withValue(await createBody(), path, undefined));
          expect(outcome, path).toMatchObject(matchRefusal(getMemberName(path)));
        }
        for (const path of OPTIONAL_PATHS) {
          const outcome = await fetchOutcome(withValue(await createBody(), path, undefined));
          expect(outcome, path).toMatchObject(ACCEPTED);
        }
      },
    ),
  },
  {
    open: 'Other values of `enabled`, `optionalFieldsAuto`, `delivery.mode` and `specVersion`',
    ...createOutcomeRule(
      'There are none: `always`, `all`, `auto` and `1.0.0` are the only values.',
      integrationBody,
      async (fetchOutcome, fixture) => {
        for (const path of [
          `${readObject}.enabled`,
          `${readObject}.optionalFieldsAuto`,
          `${readObject}.delivery.mode`,
          'latestRevision.specVersion',
        ]) {
          const body = withValue(await integrationBody.createCompleteBody(fixture), path, 'other');
          expect(await fetchOutcome(body), path).toMatchObject(matchRefusal(getMemberName(path)));
        }
      },
    ),
  },
];

const routeBody: BodyEndpoint = {
  send: ({ request, base }, body) =>
    request('POST', `${base}/notification-event-topic-routes`, body),
  mutation: 'createEventTopicRoute',
};

/** Event types of routes in addition to those of the reference API's `createNotificationEventTopicRoute`. */
const MORE_EVENT_TYPES: Record<string, string> = {
  'read.triggered.done': 'the reference API lists routes of this type, and creates none',
  'read.triggered.error': 'the reference API lists routes of this type, and creates none',
  'destination.webhook.failing': 'a receiver learns of failures before its destination is disabled',
  'delivery.failed': 'a receiver learns which messages it did not get',
  'setup.failed': 'a receiver learns which mistake keeps its customers from connecting',
};

const eventTypeChoices: Choice[] = Object.entries(MORE_EVENT_TYPES).map(([eventType, reason]) => ({
  open: 'Further event types of routes',
  ...createOutcomeRule(
    `\`${eventType}\` can be routed: ${reason}.`,
    routeBody,
    async (fetchOutcome, { createTopic }) => {
      expect(await fetchOutcome({ eventType, topicId: await createTopic() })).toMatchObject(
        ACCEPTED,
      );
    },
  ),
}));

const webhookSecretMask: Choice = {
  open: 'Further names in the `updateMask` of a provider app',
  title:
    '`webhookSecret`: providers that sign events with a secret of their own need it, and it can be rotated without a new app.',
  async rest({ post, request, base, createUniqueName }) {
    const providerApp = {
      provider: 'sandbox',
      clientId: createUniqueName('client'),
      clientSecret: 'planted',
    };
    const { id } = await post(`${base}/provider-apps`, providerApp, 200);
    const changes = { updateMask: ['webhookSecret'], providerApp: { webhookSecret: 'planted' } };
    const { status, body } = await request('PATCH', `${base}/provider-apps/${id}`, changes);
    expect([status, body.id]).toEqual([200, id]);
    expect(JSON.stringify(body)).not.toContain('planted');
  },
};

export const choices: Section = {
  title: 'Events of routes',
  rules: [],
  choices: [...integrationChoices, ...eventTypeChoices, webhookSecretMask],
};
