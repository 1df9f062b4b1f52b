/** Which of a provider's events an installation wants: told from the integration's content and the config. */
import type { ProviderEventKind } from '../../providers/subscribing.ts';
import type { ConfigContent, SubscribeConfig } from '../installation/installation-config.ts';
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
  return (content.subscribe?.objects ?? []).flatMap((spec) => {
    const choice = config.subscribe?.find((one) => one.objectName === spec.objectName);
    const object = choice ? withChoice(spec, choice) : spec;
    const fields = fieldsRead(content, config, object.objectName);
    const kinds = [...(fields ? recordKinds(object) : []), ...otherKind(object)];
    if (kinds.length === 0) return [];
    const watchFields = fields ? watchedFields(object, fields) : [];
    return { objectName: object.objectName, kinds, otherEvents: object.otherEvents, watchFields };
  });
}

/** What the integration subscribes to, less what the config leaves out. */
function withChoice(spec: SubscribeObject, choice: SubscribeConfig): SubscribeObject {
  const { createEvent, updateEvent, deleteEvent, otherEvents } = choice;
  const isLeftOut = (chosen: { enabled: string } | null) => chosen?.enabled === 'NEVER';
  return {
    ...spec,
    createEvent: isLeftOut(createEvent) ? null : spec.createEvent,
    updateEvent: isLeftOut(updateEvent) ? null : watching(spec, choice),
    deleteEvent: isLeftOut(deleteEvent) ? null : spec.deleteEvent,
    // The revision may have fewer by now.
    otherEvents: spec.otherEvents.filter((name) => otherEvents?.includes(name) ?? true),
  };
}

/** The fields that the config says are watched take the place of the integration's. */
function watching(
  { updateEvent: spec }: SubscribeObject,
  { updateEvent: choice }: SubscribeConfig,
): SubscribeObject['updateEvent'] {
  if (!spec || !choice) return spec;
  const { watchFieldsAuto, requiredWatchFields } = choice;
  if (watchFieldsAuto === null && requiredWatchFields.length === 0) return spec;
  return { ...spec, watchFieldsAuto, requiredWatchFields };
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
  const { fields, readsAll } = readPlan(spec, choice, { pageSize: 1 });
  // Of all fields, none is named: every update counts.
  return readsAll ? [] : fields;
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
