/** OAuth flows: links that lead to a provider's consent page. */
import {
  type StartedOAuthFlow,
  startOAuthConnect,
} from '../../../domain/connections/connection/oauth-connect.ts';
import { startOAuthUpdate } from '../../../domain/connections/connection/oauth-update.ts';
import { addMutation } from '../../schema/mutations.ts';
import { builder } from '../../schema/schema-builder.ts';

function createConnectPayload(name: string, description: string) {
  return builder.objectRef<StartedOAuthFlow>(name).implement({
    description,
    fields: (t) => ({
      authorizeUrl: t.exposeString('authorizeUrl', {
        description:
          "The gateway's link to the provider's consent page. Open it in the person's browser, which must accept cookies of the gateway. Unless a page of `Project.allowedOrigins` opens it in a window, it first shows the account and the person to connect.",
      }),
      expireTime: t.expose('expireTime', {
        type: 'DateTime',
        description: 'The person must consent before this time: 10 minutes from now.',
      }),
      packageInstallUrl: t.exposeString('packageInstallUrl', {
        nullable: true,
        description:
          'Where the person installs the package of the app at the provider, before they consent; null if the provider app names none.',
      }),
    }),
  });
}

addMutation(
  'startOAuthConnect',
  startOAuthConnect,
  createConnectPayload(
    'StartOAuthConnectPayload',
    'Result of `startOAuthConnect`: the link at which the person consents at the provider.',
  ),
);
addMutation(
  'startOAuthUpdate',
  startOAuthUpdate,
  createConnectPayload(
    'StartOAuthUpdatePayload',
    'Result of `startOAuthUpdate`: the link at which the person consents again.',
  ),
);
