/** Determines which events of an object an installation receives. */
import type { ProviderEventKind } from '../../../providers/subscribing.ts';
import type { SubscribeConfig } from '../../integrations/installation/choice/subscribe-choice.ts';
import type { SubscribeObject } from '../../integrations/integration/integration-content.ts';

/** Returns the integration's settings without the events that the config disables. */
export function applyConfig(spec: SubscribeObject, choice: SubscribeConfig): SubscribeObject {
  const { createEvent, updateEvent, deleteEvent, otherEvents } = choice;
  const isDisabled = (chosen: { enabled: string } | null) => chosen?.enabled === 'NEVER';
  return {
    ...spec,
    createEvent: isDisabled(createEvent) ? null : spec.createEvent,
    updateEvent: isDisabled(updateEvent) ? null : mergeUpdateEvent(spec, choice),
    deleteEvent: isDisabled(deleteEvent) ? null : spec.deleteEvent,
    // The config may name events that a newer revision no longer has.
    otherEvents: spec.otherEvents.filter((name) => otherEvents?.includes(name) ?? true),
  };
}

/** Replaces the integration's watched fields with the config's, if the config names any. */
function mergeUpdateEvent(
  { updateEvent: spec }: SubscribeObject,
  { updateEvent: choice }: SubscribeConfig,
): SubscribeObject['updateEvent'] {
  if (!spec || !choice) return spec;
  const { watchFieldsAuto, requiredWatchFields } = choice;
  if (watchFieldsAuto === null && requiredWatchFields.length === 0) return spec;
  return { ...spec, watchFieldsAuto, requiredWatchFields };
}

/** Lists the kinds of events about records. */
export function listRecordKinds({
  createEvent,
  updateEvent,
  deleteEvent,
  associationChangeEvent,
}: SubscribeObject): ProviderEventKind[] {
  const events = {
    CREATE: createEvent,
    UPDATE: updateEvent,
    DELETE: deleteEvent,
    ASSOCIATION_UPDATE: associationChangeEvent,
  };
  return (Object.keys(events) as (keyof typeof events)[]).filter((kind) => events[kind] !== null);
}
