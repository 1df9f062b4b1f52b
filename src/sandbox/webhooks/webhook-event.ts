/** How webhooks tell of what happens to records. */
import { recordView } from '../records/record-view.ts';
import type { RecordEvent } from '../records/table.ts';

/** An event as webhooks carry it, before it is addressed to a subscriber. */
export interface WebhookEvent {
  id: string;
  /** `contacts.updated` */
  type: string;
  objectName: string;
  recordId: string;
  occurredAt: string;
  changedFields?: string[];
  /** The whole record, of new ones alone: others have to be read. */
  record?: Record<string, unknown>;
  association?: { objectName: string; recordId: string };
  mergedId?: string;
}

/** One event, and another for each reference that names another record now. */
export function* eventsOf(event: RecordEvent, newId: () => string): Generator<WebhookEvent> {
  const { type, definition, record, mergedId } = event;
  const changedFields = changedFieldsOf(event);
  const about = { objectName: definition.name, recordId: record.id };
  const occurredAt = new Date(record.updatedAtMs).toISOString();
  yield {
    id: newId(),
    type: `${definition.name}.${type}`,
    ...about,
    occurredAt,
    ...(type === 'updated' && { changedFields }),
    ...(type === 'created' && { record: recordView(definition)(record) }),
    ...(mergedId !== undefined && { mergedId }),
  };
  if (type !== 'created' && type !== 'updated') return;
  for (const { name, references } of definition.fields) {
    const recordId = record.values[name];
    if (references === undefined || recordId == null || !changedFields.includes(name)) continue;
    yield {
      id: newId(),
      type: `${definition.name}.associated`,
      ...about,
      occurredAt,
      association: { objectName: references, recordId: String(recordId) },
    };
  }
}

function changedFieldsOf({ record, before }: RecordEvent): string[] {
  return Object.keys(record.values).filter(
    (name) => JSON.stringify(record.values[name]) !== JSON.stringify(before?.values[name]),
  );
}
