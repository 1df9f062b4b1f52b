/** Which of a provider's events an installation wants: told from the integration's content and the config. */
import type { ProviderEventKind } from '../../providers/subscribing.ts';
import type { ConfigContent } from '../installation/installation-config.ts';
import type { IntegrationContent, SubscribeObject } from '../integration/integration-content.ts';
import { readPlan } from '../operation/read/read-plan.ts';

export interface Wanted {
  objectName: string;
  kinds: ProviderEventKind[];
  /** Native names of the events of the kind OTHER. */
  otherEvents: string[];
  /** An update counts if one of these has changed; empty: every update. */
  watchFields: string[];
}

/** One for each object of which anything is wanted. Events about records need the object to be read. */
export function wantedSubscriptions(content: IntegrationContent, config: ConfigContent): Wanted[] {
  return (content.subscribe?.objects ?? []).flatMap((object) => {
    const fields = fieldsRead(content, config, object.objectName);
    const kinds = [...(fields ? recordKinds(object) : []), ...otherKind(object)];
    if (kinds.length === 0) return [];
    const watchFields = fields ? watchedFields(object, fields) : [];
    return { objectName: object.objectName, kinds, otherEvents: object.otherEvents, watchFields };
  });
}

/** Null if the installation does not read the object. */
function fieldsRead(
  content: IntegrationContent,
  config: ConfigContent,
  objectName: string,
): string[] | null {
  const spec = content.read?.objects.find((object) => object.objectName === objectName);
  const choice = config.read.find((object) => object.objectName === objectName);
  if (!spec || !choice || choice.disabled) return null;
  return readPlan(spec, choice, { pageSize: 1 }).fields;
}

function recordKinds({
  createEvent,
  updateEvent,
  deleteEvent,
  associationChangeEvent,
}: SubscribeObject): ProviderEventKind[] {
  const listed = {
    CREATE: createEvent,
    UPDATE: updateEvent,
    DELETE: deleteEvent,
    ASSOCIATION_UPDATE: associationChangeEvent,
  };
  return (Object.keys(listed) as (keyof typeof listed)[]).filter((kind) => listed[kind] !== null);
}

function otherKind({ otherEvents }: SubscribeObject): ProviderEventKind[] {
  return otherEvents.length > 0 ? ['OTHER'] : [];
}

function watchedFields({ updateEvent }: SubscribeObject, fields: string[]): string[] {
  return updateEvent?.watchFieldsAuto === 'selected'
    ? fields
    : (updateEvent?.requiredWatchFields ?? []);
}
