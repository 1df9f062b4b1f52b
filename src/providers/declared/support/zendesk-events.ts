/** The event types of Zendesk Support. */

/** The actions in the types of update events, by object. */
const UPDATE_ACTIONS = {
  tickets: [
    'agent_assignment_changed',
    'brand_changed',
    'custom_field_changed',
    'description_changed',
    'external_id_changed',
    'form_changed',
    'group_assignment_changed',
    'organization_changed',
    'priority_changed',
    'problem_link_changed',
    'requester_changed',
    'status_changed',
    'subject_changed',
    'submitter_changed',
    'tags_changed',
    'type_changed',
    'undeleted',
  ],
  users: [
    'active_changed',
    'alias_changed',
    'custom_field_changed',
    'custom_role_changed',
    'default_group_changed',
    'details_changed',
    'external_id_changed',
    'name_changed',
    'notes_changed',
    'role_changed',
    'tags_changed',
  ],
  organizations: ['custom_field_changed', 'external_id_changed', 'name_changed', 'tags_changed'],
};

/** Returns the types of an object's events. */
export function declareEventTypes(
  object: keyof typeof UPDATE_ACTIONS,
  { singular, deleteActions }: { singular: string; deleteActions: string[] },
) {
  const actionsByKind = {
    CREATE: ['created'],
    UPDATE: UPDATE_ACTIONS[object],
    DELETE: deleteActions,
  };
  return Object.fromEntries(
    (['CREATE', 'UPDATE', 'DELETE'] as const).flatMap((kind) =>
      actionsByKind[kind].map((action) => [
        `zen:event-type:${singular}.${action}`,
        { object, kind },
      ]),
    ),
  );
}
