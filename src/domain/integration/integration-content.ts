/** What an integration reads, writes, proxies and subscribes to, as a revision holds it: nothing left out. */
import type { z } from 'zod';
import type { integrationContentInput } from './integration-content-input.ts';

export type IntegrationContent = z.output<typeof integrationContentInput>;
type Objects<P extends 'read' | 'write' | 'subscribe'> = NonNullable<
  IntegrationContent[P]
>['objects'][number];

/** `schedule` null: read only when triggered. `optionalFieldsAuto` all: fields that are named nowhere may be selected. */
export type ReadObject = Objects<'read'>;
/** `fieldName` null: an installation's config maps the field. */
export type FieldMapping = ReadObject['requiredFields'][number];
export type WriteObject = Objects<'write'>;
export type SubscribeObject = Objects<'subscribe'>;
export type EventToggle = NonNullable<SubscribeObject['createEvent']>;
export type UpdateEvent = NonNullable<SubscribeObject['updateEvent']>;
export type AssociationChangeEvent = NonNullable<SubscribeObject['associationChangeEvent']>;

/** Only parsed content is ever written, so it is not parsed again. */
export function contentOf(revision: { content: unknown }): IntegrationContent {
  return revision.content as IntegrationContent;
}
