/** What an integration reads, writes, proxies and subscribes to, as a revision holds it: nothing left out. */
import type { z } from 'zod';
import { storedJson } from '../storable-json.ts';
import type { integrationContentInput } from './integration-content-input.ts';

export type IntegrationContent = z.output<typeof integrationContentInput>;
type Objects<P extends 'read' | 'write' | 'subscribe'> = NonNullable<
  IntegrationContent[P]
>['objects'][number];

type ParsedRead = Objects<'read'>;
type ParsedField = ParsedRead['requiredFields'][number];

/** `fieldName` null: an installation's config maps the field. What is stored may be older than the last two members. */
export type FieldMapping = Omit<ParsedField, 'default' | 'prompt'> &
  Partial<Pick<ParsedField, 'default' | 'prompt'>>;

/** `schedule` null: read only when triggered. `optionalFieldsAuto` all: fields that are named nowhere may be selected. */
export type ReadObject = Omit<ParsedRead, 'requiredFields' | 'optionalFields' | 'backfill'> & {
  requiredFields: FieldMapping[];
  optionalFields: FieldMapping[];
  /** Nothing in what was stored before there was such a member. */
  backfill?: ParsedRead['backfill'];
};
export type WriteObject = Objects<'write'>;
export type SubscribeObject = Objects<'subscribe'>;
export type WatchSchema = NonNullable<IntegrationContent['watchSchema']>;
export type EventToggle = NonNullable<SubscribeObject['createEvent']>;
export type UpdateEvent = NonNullable<SubscribeObject['updateEvent']>;
export type AssociationChangeEvent = NonNullable<SubscribeObject['associationChangeEvent']>;

/** Only parsed content is ever written, so it is not parsed again. */
export function contentOf(revision: { content: unknown }): IntegrationContent {
  return storedJson(revision.content);
}
