/**
 * Events that vendors send although no integration can subscribe to them: other types, lifecycle events of the app, pings
 * and test events. They are written from the vendors' documentation of webhooks. Many lack members of other events.
 */
import { PORTAL_ID } from '../../providers/hubspot-server.ts';
import { toSeconds } from '../wire-format.ts';

export interface ForeignEvent {
  headers?: Record<string, string>;
  body: unknown;
}

const ID = '14beef7a-99f7-4534-a87e-70b564330a4c';

const toBodies = (bodies: unknown[]): ForeignEvent[] => bodies.map((body) => ({ body }));

function createStripeEvents(sentAt: Date): ForeignEvent[] {
  const created = toSeconds(sentAt);
  const common = { object: 'event', account: 'acct_1', created, livemode: true };
  return toBodies([
    { ...common, id: 'evt_1', type: 'charge.succeeded', data: { object: { id: 'ch_1' } } },
    { ...common, id: 'evt_2', type: 'account.updated', data: { object: { id: 'acct_1' } } },
    { ...common, id: 'evt_3', type: 'balance.available', data: { object: { object: 'balance' } } },
    { ...common, id: 'evt_4', type: 'account.application.deauthorized', data: { object: {} } },
    { ...common, id: 'evt_5', type: 'customer.tax_id.created', data: { object: { id: 'txi_1' } } },
    { ...common, id: 'evt_6', type: 'payout.paid', data: { object: { id: 'po_1' } } },
    { ...common, id: 'evt_7', type: 'reporting.report_type.updated', livemode: false },
    // Events of the platform's own account have no `account`, and thin events have no `data`.
    {
      id: 'evt_8',
      object: 'event',
      created,
      type: 'customer.created',
      data: { object: { id: 'cus_9', object: 'customer' } },
    },
    { id: 'evt_9', object: 'v2.core.event', type: 'v2.core.account.updated', created: '2026' },
    { id: 'evt_10', object: 'v2.core.event', type: 'v2.core.event_destination.ping' },
  ]);
}

function createIntercomEvents(sentAt: Date): ForeignEvent[] {
  const common = { type: 'notification_event', app_id: 'a1b2c3', created_at: toSeconds(sentAt) };
  const topics = [
    'contact.user.tag.created',
    'contact.unsubscribed',
    'contact.merged',
    'conversation.admin.assigned',
    'conversation.rating.added',
    'visitor.signed_up',
    'event.created',
    'admin.logged_in',
    'ticket.note.created',
  ];
  return toBodies([
    {
      ...common,
      id: null,
      topic: 'ping',
      data: { type: 'notification_event_data', item: { type: 'ping', message: 'interzen' } },
    },
    ...topics.map((topic) => ({ ...common, id: `notif_${topic}`, topic, data: { item: {} } })),
  ]);
}

function createXeroEvents(): ForeignEvent[] {
  const wrap = (...events: object[]) => ({
    events,
    firstEventSequence: 1,
    lastEventSequence: events.length,
    entropy: 'S0m3r4nd0m',
  });
  const common = { tenantId: 'c2cc9b6e', tenantType: 'ORGANISATION', eventDateUtc: '2026-01-01' };
  const create = (eventCategory: string, eventType: string) => ({
    ...common,
    eventCategory,
    eventType,
  });
  return toBodies([
    { events: [], firstEventSequence: 0, lastEventSequence: 0, entropy: 'S0m3r4Nd0mt3xt' },
    wrap(create('SUBSCRIPTION', 'CREATE')),
    wrap(create('SUBSCRIPTION', 'UPDATE')),
    wrap(create('CREDITNOTE', 'CREATE')),
    wrap(create('PAYMENT', 'UPDATE')),
    wrap(create('CONTACT', 'ARCHIVE')),
    wrap(create('INVOICE', 'DELETE'), create('ITEM', 'CREATE')),
    wrap({ tenantId: 'c2cc9b6e', eventCategory: 'BANKTRANSACTION' }),
    wrap({ eventType: 'TEST' }),
    wrap(create('MANUALJOURNAL', 'CREATE'), create('PURCHASEORDER', 'UPDATE')),
  ]);
}

function createGithubEvents(): ForeignEvent[] {
  const repository = { full_name: 'octo/app', owner: { login: 'octo' } };
  const events: [event: string, body: object][] = [
    ['ping', { zen: 'Design for failure.', hook_id: 1, hook: { type: 'App', id: 1, app_id: 2 } }],
    ['ping', { zen: 'Design for failure.', hook_id: 1, hook: { type: 'Repository' }, repository }],
    ['push', { ref: 'refs/heads/main', commits: [], repository }],
    ['fork', { forkee: { id: 1 }, repository }],
    ['status', { sha: 'f0f0', state: 'success', repository }],
    ['installation', { action: 'created', installation: { id: 1 }, repositories: [] }],
    ['github_app_authorization', { action: 'revoked', sender: { login: 'ada' } }],
    ['star', { action: 'created', repository }],
    ['issues', { action: 'labeled', issue: { number: 7 }, label: { name: 'bug' }, repository }],
    ['issue_comment', { action: 'created', issue: { number: 7 }, comment: { id: 1 }, repository }],
  ];
  return events.map(([event, body], index) => ({
    headers: { 'x-github-event': event, 'x-github-delivery': `${ID}-${index}` },
    body,
  }));
}

function createZoomEvents(sentAt: Date): ForeignEvent[] {
  const event_ts = sentAt.getTime();
  const payload = { account_id: 'acc_1', object: { uuid: 'u==' } };
  const types = [
    'meeting.started',
    'meeting.participant_joined',
    'recording.completed',
    'webinar.registration_created',
    'user.presence_status_updated',
    'user.signed_in',
    'account.updated',
    'phone.callee_answered',
  ];
  return toBodies([
    ...types.map((event) => ({ event, event_ts, payload })),
    { event: 'app_deauthorized', event_ts, payload: { account_id: 'acc_1', user_id: 'u1' } },
    { event: 'app.deauthorized' },
  ]);
}

function createLinearEvents(sentAt: Date): ForeignEvent[] {
  const webhookTimestamp = sentAt.getTime();
  const common = { organizationId: 'org_1', createdAt: sentAt.toISOString(), webhookTimestamp };
  const objects = ['Cycle', 'IssueLabel', 'Reaction', 'ProjectUpdate', 'Attachment', 'Document'];
  return toBodies([
    ...objects.map((type) => ({ ...common, type, action: 'create', data: { id: ID } })),
    { ...common, type: 'OAuthApp', action: 'revoked', oauthClientId: ID },
    { ...common, type: 'AppUserNotification', action: 'issueMention', notification: {} },
    { ...common, type: 'AgentSessionEvent', action: 'created', agentSession: { id: ID } },
    { type: 'IssueSLA', action: 'breached', organizationId: 'org_1', webhookTimestamp },
  ]);
}

function createShopifyEvents(): ForeignEvent[] {
  const shop = 'ada-shop.myshopify.com';
  const events: [topic: string, body: object][] = [
    // Every app must accept the first three.
    ['customers/data_request', { shop_id: 1, shop_domain: shop, orders_requested: [] }],
    ['customers/redact', { shop_id: 1, shop_domain: shop, customer: { id: 2 } }],
    ['shop/redact', { shop_id: 1, shop_domain: shop }],
    ['app/uninstalled', { id: 1, name: 'Ada' }],
    ['app/scopes_update', { id: 1, current: [] }],
    ['carts/create', { id: 'token', line_items: [] }],
    ['orders/paid', { id: 1 }],
    ['inventory_levels/update', { inventory_item_id: 1, available: 2 }],
    ['bulk_operations/finish', { admin_graphql_api_id: 'gid://shopify/BulkOperation/1' }],
    ['products/add_to_favorites', {}],
  ];
  return events.map(([topic, body]) => ({
    headers: { 'x-shopify-topic': topic, 'x-shopify-shop-domain': shop },
    body,
  }));
}

function createPipedriveEvents(): ForeignEvent[] {
  const entities = ['note', 'user', 'pipeline', 'stage', 'lead', 'project', 'activity_type'];
  return toBodies([
    ...entities.map((entity) => ({
      meta: { entity, action: 'create', version: '2.0' },
      data: {},
      previous: null,
    })),
    { meta: { entity: 'deal', action: 'merge', version: '2.0' }, data: {} },
    // Version 1 has other names.
    { v: 1, event: 'added.deal', meta: { v: 1, action: 'added', object: 'deal', id: 746 } },
    { v: 1, event: 'merged.person', meta: { v: 1, action: 'merged', object: 'person', id: 1 } },
  ]);
}

function createOutreachEvents(): ForeignEvent[] {
  const names = [
    'mailing.bounced',
    'mailing.opened',
    'call.created',
    'sequence.updated',
    'sequenceState.finished',
    'kaiaRecording.created',
    'import.finished',
    'user.updated',
    'task.completed',
    'opportunityProspectRole.destroyed',
  ];
  return toBodies(names.map((eventName) => ({ data: { type: 'other' }, meta: { eventName } })));
}

function createCloseEvents(): ForeignEvent[] {
  const types = [
    ['activity.call', 'created'],
    ['activity.email', 'sent'],
    ['activity.sms', 'created'],
    ['task.lead', 'completed'],
    ['lead', 'merged'],
    ['status.lead', 'created'],
    ['custom_fields.lead', 'updated'],
    ['membership', 'activated'],
    ['export.lead', 'completed'],
  ];
  return toBodies([
    ...types.map(([object_type, action]) => ({
      subscription_id: 'whsub_1',
      event: { object_type, action },
    })),
    { subscription_id: 'whsub_1', event: { action: 'test' } },
  ]);
}

function createZendeskEvents(sentAt: Date): ForeignEvent[] {
  const time = sentAt.toISOString();
  const types = [
    'ticket.comment_added',
    'ticket.merged',
    'user.identity_created',
    'user.password_changed',
    'article.published',
    'community_post.created',
    'agent.state_changed',
    'messaging_ticket.message_added',
    'omnichannel_config.omnichannel_routing_feature_changed',
  ].map((type) => `zen:event-type:${type}`);
  return toBodies([
    ...types.map((type) => ({ type, account_id: 1, id: ID, time, detail: {}, event: {} })),
    { type: 'test' },
  ]);
}

function createAttioEvents(): ForeignEvent[] {
  const types = [
    'list-entry.created',
    'list.created',
    'list-attribute.updated',
    'comment.created',
    'task.created',
    'record.merged',
    'workspace-member.created',
    'object-attribute.created',
    'call-recording.created',
  ];
  const wrap = (...events: object[]) => ({ webhook_id: ID, events });
  return toBodies([
    ...types.map((event_type) => wrap({ event_type, id: { workspace_id: ID } })),
    wrap(),
  ]);
}

function createAsanaEvents(): ForeignEvent[] {
  const objects = ['task', 'story', 'section', 'attachment', 'tag', 'team'];
  const wrap = (...events: object[]) => ({ events });
  return toBodies([
    // Asana sends an empty list every 8 hours, and deletes the webhook if it is refused for a day.
    wrap(),
    ...objects.map((resource_type) => wrap({ action: 'added', resource: { resource_type } })),
    wrap({ action: 'removed', resource: { gid: '1', resource_type: 'project' } }),
    wrap({ action: 'sync_error', message: 'There was an error.' }),
    wrap(
      { action: 'deleted', resource: { resource_type: 'workspace_membership' } },
      {
        action: 'removed',
        resource: null,
      },
    ),
  ]);
}

function createHubspotEvents(sentAt: Date): ForeignEvent[] {
  const common = { appId: 1, portalId: PORTAL_ID, occurredAt: sentAt.getTime(), attemptNumber: 0 };
  const wrap = (...events: object[]) => events;
  const createEvent = (subscriptionType: string, members: object = {}) => ({
    ...common,
    eventId: 1,
    subscriptionId: 2,
    subscriptionType,
    ...members,
  });
  return toBodies([
    wrap(),
    wrap(createEvent('contact.merge', { objectId: 1, mergedObjectIds: [2], newObjectId: 3 })),
    wrap(createEvent('company.restore', { objectId: 1 })),
    wrap(createEvent('conversation.newMessage', { objectId: 1, messageId: 'm1' })),
    wrap(createEvent('conversation.newMessage', { objectId: null, messageId: 'm1' })),
    // These lack members that every other event has.
    wrap({ ...common, subscriptionType: 'app.uninstall' }),
    wrap({ ...common, subscriptionType: 'object.schemaChange', eventId: 'a', objectTypeId: '2-1' }),
    wrap({ subscriptionType: 'test' }),
    wrap({ subscriptionType: 'contact.listMembership', occurredAt: sentAt.toISOString() }),
    wrap({ subscriptionType: 'test' }, createEvent('deal.merge', { objectId: 1 })),
  ]);
}

/** The account of the sandbox's events. */
export const SANDBOX_ACCOUNT = 'con_1';

function createSandboxEvents(sentAt: Date): ForeignEvent[] {
  const occurredAt = sentAt.toISOString();
  const wrap = (...events: object[]) => ({ events });
  const common = {
    id: 'ev1',
    account: SANDBOX_ACCOUNT,
    objectName: 'contacts',
    recordId: '1',
    occurredAt,
  };
  return toBodies([
    wrap(),
    wrap({ ...common, type: 'contacts.merged' }),
    wrap({ ...common, type: 'contacts.archived', recordId: null }),
    wrap({ ...common, type: 'contacts.viewed', changedFields: 'none' }),
    wrap({ type: 'account.suspended' }),
    wrap({ type: 'account.resumed', id: 7 }),
    wrap({ type: 'ping' }),
    wrap({ type: 'test', occurredAt: 'today' }),
    wrap({ type: '__proto__' }, { type: '' }),
    wrap({ type: 'key.rotated', occurredAt }, { type: 'key.revoked', occurredAt }),
  ]);
}

/** Pings of Airtable have no type. The gateway reads the list after each signed ping. */
function createAirtablePings(sentAt: Date): ForeignEvent[] {
  const timestamp = sentAt.toISOString();
  const base = { id: 'appBase' };
  const webhook = { id: 'ach00000000000001' };
  return toBodies([
    { base, webhook, timestamp },
    { base, webhook, timestamp, type: 'test' },
    { base, webhook, timestamp: null },
    { base, webhook: { id: 'achOther' }, timestamp },
    { base: { id: 'appOther' }, webhook, timestamp },
    { webhook },
    { base },
    { event: 'ping' },
    {},
    [],
  ]);
}

/** The number of requests of each provider. */
export const FOREIGN_COUNT = 10;

/** The requests of each provider, by its name. The provider signs them like its other events. */
export const FOREIGN_EVENTS: Record<string, (sentAt: Date) => ForeignEvent[]> = {
  airtable: createAirtablePings,
  asana: createAsanaEvents,
  attio: createAttioEvents,
  close: createCloseEvents,
  github: createGithubEvents,
  hubspot: createHubspotEvents,
  intercom: createIntercomEvents,
  linear: createLinearEvents,
  outreach: createOutreachEvents,
  pipedrive: createPipedriveEvents,
  sandbox: createSandboxEvents,
  shopify: createShopifyEvents,
  stripe: createStripeEvents,
  xero: createXeroEvents,
  zendeskSupport: createZendeskEvents,
  zoom: createZoomEvents,
};
