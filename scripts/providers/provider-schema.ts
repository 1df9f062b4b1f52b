/** Generates docs/provider.schema.json, the JSON Schema of provider documents. */
import { z } from 'zod';
import { behavior, listBehavior } from '../../src/providers/behavior.ts';
import { oauth2 } from '../../src/providers/catalog/entry-schema.ts';
import { providerDeclaration } from '../../src/providers/declarative/declaration/declaration.ts';
import {
  eventList,
  eventsDeclaration,
  eventValue,
  webhookAuthentication,
} from '../../src/providers/declarative/declaration/events-declaration.ts';
import {
  listDeclaration,
  paging,
  selectedFields,
  timeFilter,
} from '../../src/providers/declarative/declaration/list-declaration.ts';
import { nameRule } from '../../src/providers/declarative/declaration/name-rule.ts';
import {
  batch,
  nestedFields,
  objectDeclaration,
  write,
} from '../../src/providers/declarative/declaration/object-declaration.ts';
import {
  jsonObject,
  pathTemplate,
  pointer,
  requestLocation,
  timeFormat,
} from '../../src/providers/declarative/declaration/request-location.ts';
import { limits, providerDocument } from '../../src/providers/document/provider-document.ts';

/** The parts that the JSON Schema defines once. */
const PARTS = {
  api: providerDeclaration,
  object: objectDeclaration,
  list: listDeclaration,
  write,
  batch,
  behavior,
  listBehavior,
  events: eventsDeclaration,
  eventList,
  eventValue,
  authentication: webhookAuthentication,
  oauth2,
  limits,
  paging,
  timeFilter,
  selectedFields,
  nestedFields,
  names: nameRule,
  pointer,
  path: pathTemplate,
  requestLocation,
  timeFormat,
  jsonObject,
};

export function createProviderSchema(): string {
  const metadata = z.registry<{ id?: string; description?: string }>();
  for (const [id, schema] of Object.entries(PARTS)) metadata.add(schema, { id });
  const schema = z.toJSONSchema(providerDocument, {
    io: 'input',
    metadata,
    override({ zodSchema, jsonSchema }) {
      const description = z.globalRegistry.get(zodSchema as unknown as z.ZodType)?.description;
      if (description !== undefined) jsonSchema.description = description;
      // zod's name of a check, which is no format of JSON Schema. The pattern says the same.
      if (String(jsonSchema.format) === 'includes') delete jsonSchema.format;
    },
  });
  return `${JSON.stringify({ title: 'Provider document', ...schema }, null, 2)}\n`;
}
