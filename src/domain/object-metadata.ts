/** What a provider says of one of its objects. */
import type { ObjectDescription } from '../providers/provider.ts';

export type { FieldDescription } from '../providers/provider.ts';

export interface ObjectMetadata extends ObjectDescription {
  /** Only through an installation: the name that the integration maps the object to. */
  mappedObjectName: string | null;
}
