/**
 * A project as a document: everything that a builder configures, without ids and secrets. It uses the vocabulary of
 * manifests. A manifest is a document that has only integrations.
 */
import { z } from 'zod';
import {
  DestinationStatus,
  DestinationType,
  type NotificationEventType,
} from '../../database/generated/enums.ts';
import { maskUrl } from '../../deliveries/target-secrets.ts';
import { EVENTS } from '../../events/event-types.ts';
import type { Issue } from '../../kernel/errors.ts';
import { isObject } from '../../work/is-object.ts';
import { allowedOrigins } from '../access/origins.ts';
import { orDefault, orElse } from '../base/input-schemas.ts';
import { checkRules, createInputIssue, createRuleIssue } from '../base/issues.ts';
import { destinationName, topicName } from '../base/names.ts';
import { toStoredWord } from '../base/resource.ts';
import { unwrapSchema } from '../base/unwrap-schema.ts';
import { listTypeIssues } from '../events/destination-rules.ts';
import { createEventTopicRouteInput } from '../events/event-topic-route.ts';
import { findHeaderNameIssue, HEADERS_MAX } from '../events/target-headers.ts';
import { listRepeatedIndexes } from '../integrations/integration/integration-content-check.ts';
import {
  integrationContentInput,
  specVersion,
} from '../integrations/integration/integration-content-input.ts';
import { createJwtKeyInput } from '../tenants/project/jwt-key.ts';
import { appName, branding } from '../tenants/project/project.ts';
import { toEventWireName } from './canonical-document.ts';

/** The maximum numbers of items. They bound the transaction that applies a document. */
const LIMITS = { integrations: 500, destinations: 200, topics: 200, keys: 50, apps: 500 } as const;
const TEXT_LENGTH_MAX = 1_024;

const destination = z
  .object({
    name: destinationName.describe('1 to 64 letters, digits and dashes; unique in the project.'),
    type: z
      .enum(DestinationType)
      .meta({ id: 'DestinationType' })
      .describe('`webhook`: messages are posted to `url`. `stream`: clients read them.'),
    url: z
      .string()
      .optional()
      .describe('For a webhook: the URL, with `***` in place of each value of its query.'),
    headers: orElse(z.array(z.string()).max(HEADERS_MAX), []).describe(
      'For a webhook: the names of the headers that are sent with every message. Their values are secrets.',
    ),
    status: orDefault(
      z.enum(DestinationStatus).meta({ id: 'DestinationStatus' }),
      'ENABLED',
    ).describe('For a webhook: `disabled` keeps its messages pending. Default: `enabled`.'),
  })
  .superRefine(checkRules(listDestinationIssues));

const topic = z
  .object({
    name: topicName.describe(
      '1 to 64 letters, digits, dashes and spaces, without a space at either end; unique in the project.',
    ),
    eventTypes: orElse(
      z.array(createEventTopicRouteInput.shape.eventType).max(Object.keys(EVENTS).length),
      [],
    ).describe('The types of the events that go to the topic, like `connection.created`.'),
    destinations: orElse(z.array(destinationName).max(LIMITS.destinations), []).describe(
      'The names of the destinations that get the events of the topic.',
    ),
  })
  .superRefine(
    checkRules(function* ({ eventTypes, destinations }) {
      yield* listRepeatIssues(eventTypes, ['eventTypes']);
      yield* listRepeatIssues(destinations, ['destinations']);
    }),
  );

const jwtKey = z.object({
  label: createJwtKeyInput.shape.label,
  publicKeyPem: createJwtKeyInput.shape.publicKeyPem.describe(
    'The public half of the key in PEM. It identifies the key.',
  ),
  active: orDefault(z.boolean(), true).describe(
    'If false, tokens that the key has signed are rejected. Default: true.',
  ),
});

const providerApp = z.object({
  provider: z.string().min(1).max(TEXT_LENGTH_MAX).describe('The name of the provider.'),
  name: z
    .string()
    .min(1)
    .max(TEXT_LENGTH_MAX)
    .describe('The external reference of the app. Without one, its client id.'),
});

const appearance = z.object({
  appName: appName.optional(),
  logoUrl: branding.logoUrl
    .optional()
    .describe('The https URL of the logo on the connect page, at most 2048 characters.'),
  accentColor: branding.accentColor
    .optional()
    .describe('The color of buttons and links on the connect page, like `#4f46e5`.'),
  locale: branding.locale
    .optional()
    .describe('The language of the connect page as a BCP 47 tag, like `de` or `en-GB`.'),
});

export const projectDocument = z
  .object({
    specVersion,
    appearance: appearance
      .optional()
      .describe('The name of the app, and the appearance of the connect page.'),
    allowedOrigins: allowedOrigins.optional(),
    jwtKeys: z
      .array(jwtKey)
      .max(LIMITS.keys)
      .optional()
      .describe("The public keys that verify end users' tokens, at most 50."),
    providerApps: z
      .array(providerApp)
      .max(LIMITS.apps)
      .optional()
      .describe(
        'The provider apps that the project must have. A plan reports missing apps, but creates none, because apps have secrets.',
      ),
    destinations: z
      .array(destination)
      .max(LIMITS.destinations)
      .optional()
      .describe('The destinations, at most 200.'),
    topics: z
      .array(topic)
      .max(LIMITS.topics)
      .optional()
      .describe('The topics with their routes, at most 200.'),
    integrations: z
      .array(integrationContentInput)
      .max(LIMITS.integrations)
      .optional()
      .describe('The integrations, as in a manifest, at most 500.'),
  })
  .superRefine(
    checkRules(function* ({ jwtKeys = [], destinations = [], topics = [], integrations = [] }) {
      yield* listRepeatIssues(
        jwtKeys.map(({ publicKeyPem }) => publicKeyPem.trim()),
        ['jwtKeys'],
        'publicKeyPem',
      );
      const sections = { destinations, topics, integrations };
      for (const [section, items] of Object.entries(sections)) {
        const names = items.map(({ name }) =>
          section === 'integrations' ? name.toLowerCase() : name,
        );
        yield* listRepeatIssues(names, [section], 'name');
      }
    }),
  )
  .describe(
    'A project: its appearance, origins, keys, destinations, topics and integrations. A section that is omitted is not managed by the document.',
  );

export type ParsedDocument = z.output<typeof projectDocument>;

function* listDestinationIssues({
  url,
  headers,
  status,
  ...input
}: z.output<z.ZodObject<(typeof destination)['shape']>>) {
  const maskedUrl = url === undefined ? undefined : maskUrl(url);
  if (url !== maskedUrl) {
    yield createRuleIssue(
      ['url'],
      'must have `***` in place of each value of its query, which is a secret.',
    );
  }
  yield* listTypeIssues({
    ...input,
    url: maskedUrl?.replace(/\*\*\*(?=&|$)/g, ''),
    headers: headers.length > 0 ? headers : undefined,
    status: status === 'ENABLED' ? undefined : status,
  });
  const previousNames = new Set<string>();
  for (const [index, name] of headers.entries()) {
    const issue = findHeaderNameIssue(name, previousNames);
    if (issue) yield createRuleIssue(['headers', index], issue, { showsValue: true });
    previousNames.add(name.toLowerCase());
  }
}

function* listRepeatIssues(values: readonly string[], path: PropertyKey[], member?: string) {
  for (const index of listRepeatedIndexes(values)) {
    const itemPath = member === undefined ? [...path, index] : [...path, index, member];
    yield createRuleIssue(itemPath, 'is named twice.', { showsValue: member !== 'publicKeyPem' });
  }
}

/** Returns the word for an enum's name in documents: the word of manifests, or the wire name of an event type. */
function toDocumentWord(name: string): string {
  return Object.hasOwn(EVENTS, name)
    ? toEventWireName(name as NotificationEventType)
    : toStoredWord(name);
}

/**
 * Converts the words of a document to the enum names that the schema accepts. Adds issues for unknown words, and for
 * members that the schema does not have, which zod would ignore.
 */
export function convertWords(
  schema: z.ZodType,
  value: unknown,
  { path, issues }: { path: readonly PropertyKey[]; issues: Issue[] },
): unknown {
  const { inner } = unwrapSchema(schema);
  if (inner instanceof z.ZodEnum && typeof value === 'string') {
    const names = inner.options as string[];
    const name = names.find((candidate) => toDocumentWord(candidate) === value);
    if (name !== undefined) return name;
    const words = names.map((name) => toDocumentWord(name)).join(', ');
    issues.push(createInputIssue(path, `must be one of ${words}.`, value));
    // The schema reports the absent value at the same path. Its issue is ignored, because the path has this issue.
    return undefined;
  }
  if (inner instanceof z.ZodArray && Array.isArray(value)) {
    return value.map((item, index) =>
      convertWords(inner.element as z.ZodType, item, { path: [...path, index], issues }),
    );
  }
  if (!(inner instanceof z.ZodObject) || !isObject(value)) return value;
  const shape = inner.shape as Record<string, z.ZodType>;
  return Object.fromEntries(
    Object.entries(value).flatMap(([name, member]) => {
      const memberPath = [...path, name];
      if (Object.hasOwn(shape, name)) {
        const type = shape[name] as z.ZodType;
        return [[name, convertWords(type, member, { path: memberPath, issues })]];
      }
      const detail = `is not a member here: use ${Object.keys(shape).join(', ')}.`;
      issues.push({ ...createInputIssue(memberPath, detail), kind: 'unknown-name' });
      return [];
    }),
  );
}
