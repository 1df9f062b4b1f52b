/** Connecting in a browser: the URLs of providers' pages of consent. */
import { type StartedConnect, startOAuthConnect } from '../../domain/connection/oauth-connect.ts';
import { startOAuthUpdate } from '../../domain/connection/oauth-update.ts';
import { mutationField } from '../schema/mutation-field.ts';
import { builder } from '../schema/schema-builder.ts';

function startedPayload(name: string, description: string) {
  return builder.objectRef<StartedConnect>(name).implement({
    description,
    fields: (t) => ({
      authorizeUrl: t.exposeString('authorizeUrl', {
        description: "The provider's page of consent. Send the person's browser there.",
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

builder.mutationFields((t) => ({
  startOAuthConnect: mutationField(t, startOAuthConnect, {
    type: startedPayload(
      'StartOAuthConnectPayload',
      'The answer of startOAuthConnect: where to send the person, who consents at the provider.',
    ),
    description:
      "Begins a connect in a browser and gives the provider's authorize URL. When the person has consented, the callback creates or renews the connection.",
  }),
  startOAuthUpdate: mutationField(t, startOAuthUpdate, {
    type: startedPayload(
      'StartOAuthUpdatePayload',
      'The answer of startOAuthUpdate: where to send the person, who consents again.',
    ),
    description:
      "Begins a new consent in a browser for an existing connection and gives the provider's authorize URL. When the person has consented, the callback renews the connection.",
  }),
}));
