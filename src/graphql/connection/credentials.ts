import type { ShownCredentials, ShownToken } from '../../domain/connection/credentials.ts';
import { builder } from '../schema/schema-builder.ts';

const OAuth2Token = builder.objectRef<ShownToken>('OAuth2Token').implement({
  description: 'An OAuth token and its lifetime.',
  fields: (t) => ({
    token: t.exposeString('token', { description: 'The value of the token.' }),
    issuedAt: t.expose('issuedAt', {
      type: 'DateTime',
      nullable: true,
      description: 'When it was issued; null if that is not known.',
    }),
    expiresAt: t.expose('expiresAt', {
      type: 'DateTime',
      nullable: true,
      description: 'When it expires; null if that is not known.',
    }),
  }),
});

const OAuth2Tokens = builder
  .objectRef<NonNullable<ShownCredentials['oauth2AuthorizationCode']>>('OAuth2Tokens')
  .implement({
    description: 'The tokens of an OAuth authorization.',
    fields: (t) => ({
      accessToken: t.expose('accessToken', {
        type: OAuth2Token,
        nullable: true,
        description: 'The token that authenticates requests to the provider.',
      }),
      refreshToken: t.expose('refreshToken', {
        type: OAuth2Token,
        nullable: true,
        description: 'The token that gets new access tokens.',
      }),
      scopes: t.exposeStringList('scopes', {
        description: 'The OAuth scopes that the provider granted.',
      }),
    }),
  });

export const ConnectionCredentials = builder
  .objectRef<ShownCredentials>('ConnectionCredentials')
  .implement({
    description:
      'Credentials as they are sent to the provider: only the field of the scheme is set.',
    fields: (t) => ({
      apiKey: t.exposeString('apiKey', {
        nullable: true,
        description: 'The API key; null for other schemes.',
      }),
      oauth2AuthorizationCode: t.expose('oauth2AuthorizationCode', {
        type: OAuth2Tokens,
        nullable: true,
        description: 'Tokens, with or without PKCE.',
      }),
    }),
  });
