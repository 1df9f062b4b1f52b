// TEMPORARY while the schema is being filled in: each line goes when its type is implemented.
import { Node } from './node.ts';
import * as types from './types.ts';

for (const name of [
  'Org',
  'Invite',
  'Builder',
  'BillingAccount',
  'ClaimedDomain',
  'ApiKey',
  'ProviderApp',
  'Group',
  'Consumer',
  'ConnectedAccount',
  'Integration',
  'Revision',
  'Installation',
  'InstallationConfig',
  'Operation',
  'Destination',
  'EventTopicRoute',
  'TopicDestinationRoute',
  'NotificationEvent',
  'Delivery',
] as const) {
  // biome-ignore lint: temporary
  (types[name] as any).implement({ interfaces: [Node], fields: (t: any) => ({ id: t.exposeID('id') }) });
}
