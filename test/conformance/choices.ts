/** Routes' event types that only answers have at the platform, and what it leaves open of integrations. */
import { expect } from 'vitest';
import { DONE, outcomeRule, refused, type Sendable } from '../support/conformance/outcome.ts';
import { withValue } from '../support/conformance/places.ts';
import type { Choice, Section } from '../support/conformance/rule.ts';
import { integrationBody } from './bodies-of-integrations.ts';

const content = 'latestRevision.content';
const object = `${content}.read.objects[0]`;
const NEEDED = [
  'name',
  'provider',
  'latestRevision',
  'latestRevision.specVersion',
  content,
  `${content}.name`,
  `${content}.provider`,
  `${object}.objectName`,
  `${object}.destination`,
];
const LEFT_OUT = [
  `${content}.displayName`,
  `${content}.write`,
  `${content}.proxy`,
  `${object}.schedule`,
  `${object}.optionalFields`,
  `${object}.optionalFieldsAuto`,
  `${object}.delivery`,
  `${object}.enabled`,
];
const last = (place: string) => place.split('.').at(-1) as string;

const ofIntegrations: Choice[] = [
  {
    open: 'Which fields of an integration must be given',
    ...outcomeRule(
      'Names, providers, the revision with its version and content, and of read objects name and destination; others need not.',
      integrationBody,
      async (outcomeOf, scene) => {
        const whole = async () => integrationBody.whole(scene);
        for (const place of NEEDED) {
          const outcome = await outcomeOf(withValue(await whole(), place, undefined));
          expect(outcome, place).toMatchObject(refused(last(place)));
        }
        for (const place of LEFT_OUT) {
          const outcome = await outcomeOf(withValue(await whole(), place, undefined));
          expect(outcome, place).toMatchObject(DONE);
        }
      },
    ),
  },
  {
    open: 'Other values of `enabled`, `optionalFieldsAuto`, `delivery.mode` and `specVersion`',
    ...outcomeRule(
      '`always`, `all`, `auto` and `1.0.0` are the only ones.',
      integrationBody,
      async (outcomeOf, scene) => {
        for (const place of [
          `${object}.enabled`,
          `${object}.optionalFieldsAuto`,
          `${object}.delivery.mode`,
          'latestRevision.specVersion',
        ]) {
          const given = withValue(await integrationBody.whole(scene), place, 'other');
          expect(await outcomeOf(given), place).toMatchObject(refused(last(place)));
        }
      },
    ),
  },
];

const routeBody: Sendable = {
  send: ({ ask, base }, body) => ask('POST', `${base}/notification-event-topic-routes`, body),
  mutation: 'createEventTopicRoute',
};

export const choices: Section = {
  title: 'Events of routes',
  rules: ['read.triggered.done', 'read.triggered.error'].map((eventType) =>
    outcomeRule(
      `A route may be of \`${eventType}\`; here it can be created, too.`,
      routeBody,
      async (outcomeOf, { freshTopic }) => {
        expect(await outcomeOf({ eventType, topicId: await freshTopic() })).toMatchObject(DONE);
      },
    ),
  ),
  choices: ofIntegrations,
};
