/** Generates the list of events and their bodies in docs/webhooks.md. */
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import type { z } from 'zod';
import { EVENT_PARTS, EVENTS } from '../../src/events/event-types.ts';
import { getEventTypeName } from '../../src/graphql/schema/schema-builder.ts';
import { unwrapSchema } from '../../src/kernel/unwrap-schema.ts';
import { ROOT } from '../support/documents.ts';

const WEBHOOKS_PAGE = join(ROOT, 'docs/webhooks.md');

test('docs/webhooks.md is up to date', async () => {
  const [textBefore, , textAfter] = readFileSync(WEBHOOKS_PAGE, 'utf8').split(/<!-- \/?events -->/);
  const page = `${textBefore}<!-- events -->\n\n${formatListing()}\n<!-- /events -->${textAfter}`;
  await expect(
    page,
    'Run `npx vitest run test/docs/webhook-events.test.ts -u` to update it.',
  ).toMatchFileSnapshot(WEBHOOKS_PAGE);
});

const eventParts = Object.entries<z.ZodObject>(EVENT_PARTS);
const formatCode = (name: string) => `\`${name}\``;

function formatListing(): string {
  const types = Object.entries(EVENTS).map(([type, { wireName, happened, data }]) => {
    const eventPart = findPart(data);
    const members = Object.entries<z.ZodType>(data.shape)
      .filter(([name]) => !eventPart || !(name in eventPart[1].shape))
      .map(([name, schema]) => `${formatCode(name)}${unwrapSchema(schema).isOptional ? '?' : ''}`);
    const body = [...(eventPart ? [`*${eventPart[0]}*`] : []), ...members].join(', ');
    return `| ${formatCode(wireName)} | ${formatCode(getEventTypeName(type))} | ${happened} | ${body} |`;
  });
  const shared = eventParts.map(
    ([name, { shape }]) => `- *${name}*: ${Object.keys(shape).map(formatCode).join(', ')}.`,
  );
  const members = Object.values(EVENTS).flatMap(({ wireName, data }) =>
    Object.entries<z.ZodType>(data.shape).map(([name, { description = '' }]) => ({
      name,
      wireName,
      description,
    })),
  );
  const meanings = [...Map.groupBy(members, ({ name }) => name)].map(
    ([name, uses]) => `| ${formatCode(name)} | ${describeMember(uses)} |`,
  );
  return `| \`notificationType\` | GraphQL type | when | \`data\` |
| --- | --- | --- | --- |
${types.join('\n')}

${shared.join('\n')}

A member with a question mark is optional.

| member | meaning |
| --- | --- |
${meanings.join('\n')}
`;
}

/** Names the events of each description if a member has several, the commonest last. */
function describeMember(members: { wireName: string; description: string }[]): string {
  const byDescription = [...Map.groupBy(members, ({ description }) => description)].toSorted(
    ([, events], [, otherEvents]) => events.length - otherEvents.length,
  );
  return byDescription
    .map(([description, events], index) => {
      if (byDescription.length === 1) return description;
      const isLast = index === byDescription.length - 1;
      const names = events.map(({ wireName }) => formatCode(wireName)).join(', ');
      return `${isLast && events.length > 1 ? 'Other events' : names}: ${description}`;
    })
    .join(' ');
}

/** Returns the largest shared part whose members the body has. */
function findPart({ shape }: z.ZodObject) {
  return eventParts.find(([, eventPart]) =>
    Object.keys(eventPart.shape).every((name) => name in shape),
  );
}
