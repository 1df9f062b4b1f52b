/** Creates a GraphQL type for each type of event, with the members of its `data` and the objects that they name by id. */
import type { z } from 'zod';
import { byId, type Row } from '../../domain/access/scope.ts';
import { EVENTS } from '../../domain/events/notification-event.ts';
import { createFieldOptions } from '../schema/inputs.ts';
import { Node } from '../schema/node-field.ts';
import { builder, getEventTypeName, type Types } from '../schema/schema-builder.ts';
import { Delivery, Integration, NotificationEvent } from '../schema/types.ts';

type Event = Row<'NotificationEvent'>;
type FieldBuilder = PothosSchemaTypes.ObjectFieldBuilder<Types, Event>;

for (const [eventType, { wireName, happened, data }] of Object.entries(EVENTS)) {
  const typeName = getEventTypeName(eventType);
  builder.objectType(builder.objectRef<Event>(typeName), {
    description: `The event \`${wireName}\`. ${happened}`,
    // NotificationEvent must come last: its `id` has a resolver, and Node's `id` has none.
    interfaces: [Node, NotificationEvent],
    fields: (t) => createFields(t, typeName, data),
  });
}

function createFields(t: FieldBuilder, typeName: string, data: z.ZodObject) {
  const fields = Object.entries<z.ZodType>(data.shape).flatMap(([member, schema]) => [
    [getFieldName(member, schema), createMemberField(t, { typeName, member, schema })],
    ...createObjectFields(t, member),
  ]);
  return Object.fromEntries(fields);
}

function getFieldName(member: string, schema: z.ZodType): string {
  return (schema.meta()?.field as string | undefined) ?? member;
}

interface Member {
  typeName: string;
  member: string;
  schema: z.ZodType;
}

function createMemberField(t: FieldBuilder, { typeName, member, schema }: Member) {
  const { type, required, description } = createFieldOptions(`${typeName}.${member}`, schema);
  return t.field({
    type: type as 'JSON',
    nullable: !required,
    description,
    resolve: (event) => readMember(event, member),
  });
}

/** Returns a field for an object that the member names by id, unless the interface has it already. */
function createObjectFields(t: FieldBuilder, member: string) {
  if (member === 'integrationId') {
    const integration = t.field({
      type: Integration,
      nullable: true,
      description: 'The integration that the event concerns. Null if it has been deleted.',
      resolve: (event, _args, { find }) =>
        find(byId('Integration'), readMember(event, member) as string),
    });
    return [['integration', integration]];
  }
  if (member !== 'deliveryId') return [];
  const delivery = t.field({
    type: Delivery,
    nullable: true,
    description: 'The delivery that the event concerns. Null if it has been deleted.',
    resolve: (event, _args, { find }) =>
      find(byId('Delivery'), readMember(event, member) as string),
  });
  return [['delivery', delivery]];
}

/** Returns the member's value. Null for a member that was added after the event was recorded. */
function readMember({ data }: Event, member: string): unknown {
  return (data as Record<string, unknown>)[member] ?? null;
}
