/** The stored content of a revision, with all defaults filled in. */
import type { z } from 'zod';
import { storedJson } from '../storable-json.ts';
import type { integrationContentInput } from './integration-content-input.ts';

export type IntegrationContent = z.output<typeof integrationContentInput>;
type Objects<P extends 'read' | 'write' | 'subscribe'> = NonNullable<
  IntegrationContent[P]
>['objects'][number];

type ParsedRead = Objects<'read'>;
type ParsedField = ParsedRead['requiredFields'][number];

/**
 * Null for `fieldName` means that the config of an installation maps the field. Older stored content lacks the last three
 * members.
 */
export type FieldMapping = Omit<ParsedField, 'default' | 'prompt' | 'valueType'> &
  Partial<Pick<ParsedField, 'default' | 'prompt' | 'valueType'>>;

/**
 * Null for `schedule` means that only triggers start reads. `optionalFieldsAuto: all` means that a config may select
 * any field.
 */
export type ReadObject = Omit<ParsedRead, 'requiredFields' | 'optionalFields' | 'backfill'> & {
  requiredFields: FieldMapping[];
  optionalFields: FieldMapping[];
  /** Absent in content that was stored before this member existed. */
  backfill?: ParsedRead['backfill'];
};
export type WriteObject = Objects<'write'>;
export type SubscribeObject = Objects<'subscribe'>;
export type WatchSchema = NonNullable<IntegrationContent['watchSchema']>;
export type EventToggle = NonNullable<SubscribeObject['createEvent']>;
export type UpdateEvent = NonNullable<SubscribeObject['updateEvent']>;
export type AssociationChangeEvent = NonNullable<SubscribeObject['associationChangeEvent']>;

/** Returns stored content without parsing it again, because only parsed content is stored. */
export function contentOf(revision: { content: unknown }): IntegrationContent {
  return storedJson(revision.content);
}
