/**
 * The kinds of record events that an installation gets of an object: those of the integration that the config
 * does not disable.
 */
import type { ProviderEventKind } from '../../providers/subscribing.ts';
import type { SubscribeConfig } from '../installation/choice/subscribe-choice.ts';
import type { SubscribeObject } from '../integration/integration-content.ts';

/** Returns the events of the integration without those that the config disables. */
export function applyConfig(spec: SubscribeObject, choice: SubscribeConfig): SubscribeObject {
  const { createEvent, updateEvent, deleteEvent, otherEvents } = choice;
  const isDisabled = (chosen: { enabled: string } | null) => chosen?.enabled === 'NEVER';
  return {
    ...spec,
    createEvent: isDisabled(createEvent) ? null : spec.createEvent,
    updateEvent: isDisabled(updateEvent) ? null : listWatched(spec, choice),
    deleteEvent: isDisabled(deleteEvent) ? null : spec.deleteEvent,
    // A newer revision may have fewer events than the config.
    otherEvents: spec.otherEvents.filter((name) => otherEvents?.includes(name) ?? true),
  };
}

/** Watched fields of the config replace those of the integration. */
function listWatched(
  { updateEvent: spec }: SubscribeObject,
  { updateEvent: choice }: SubscribeConfig,
): SubscribeObject['updateEvent'] {
  if (!spec || !choice) return spec;
  const { watchFieldsAuto, requiredWatchFields } = choice;
  if (watchFieldsAuto === null && requiredWatchFields.length === 0) return spec;
  return { ...spec, watchFieldsAuto, requiredWatchFields };
}

/** Lists the kinds of events about records. */
export function recordKinds({
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
