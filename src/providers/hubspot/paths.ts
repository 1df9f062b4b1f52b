/**
 * The paths of HubSpot's API. Object names are checked here, because they must not change the structure of a path. Record
 * ids must come from `toRecordId`.
 */
import { ProviderError } from '../provider-error.ts';

/** Permitted names: plural names, type ids (`0-1`, `2-123`) and qualified custom names (`p123_car`). */
const OBJECT_NAME = /^\w[\w-]{0,99}$/;
const RECORD_ID = /^\w[\w-]{0,63}$/;

const OBJECTS = '/crm/v3/objects';
const DATED_OBJECTS = '/crm/objects/2026-03';

export const paths = {
  accountDetails: '/account-info/2026-03/details',
  accessToken: (token: string) => `/oauth/v1/access-tokens/${encodeURIComponent(token)}`,
  records: (object: string) => `${OBJECTS}/${checkObjectName(object)}`,
  search: (object: string) => `${OBJECTS}/${checkObjectName(object)}/search`,
  record: (object: string, id: string) => `${OBJECTS}/${checkObjectName(object)}/${id}`,
  batchRead: (object: string) => `${OBJECTS}/${checkObjectName(object)}/batch/read`,
  removal: (object: string, id: string) => `${DATED_OBJECTS}/${checkObjectName(object)}/${id}`,
  batch: (object: string, action: 'create' | 'update') =>
    `${DATED_OBJECTS}/${checkObjectName(object)}/batch/${action}`,
  properties: (object: string) => `/crm/v3/properties/${checkObjectName(object)}/`,
  newProperty: (object: string) => `/crm/v3/properties/${checkObjectName(object)}`,
  /** `name` must match the pattern of `defineFields`. */
  property: (object: string, name: string) =>
    `/crm/v3/properties/${checkObjectName(object)}/${name}`,
  propertyGroups: (object: string) => `/crm/v3/properties/${checkObjectName(object)}/groups`,
  propertyGroup: (object: string, name: string) =>
    `/crm/v3/properties/${checkObjectName(object)}/groups/${name}`,
  schema: (object: string) => `/crm-object-schemas/2026-03/schemas/${checkObjectName(object)}`,
  pipelines: (object: string) => `/crm/pipelines/2026-03/${checkObjectName(object)}`,
};

function checkObjectName(name: string): string {
  if (OBJECT_NAME.test(name)) return name;
  throw new ProviderError('MISSING_OBJECT', 'No HubSpot object can have that name');
}

/** Returns the id as a string. Null if no HubSpot record can have this id. */
export function toRecordId(id: unknown): string | null {
  const text = typeof id === 'number' ? String(id) : id;
  return typeof text === 'string' && RECORD_ID.test(text) ? text : null;
}
