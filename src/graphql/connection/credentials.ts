import type { ShownCredentials, ShownToken } from '../../domain/connection/credentials.ts';
import { builder } from '../schema/schema-builder.ts';

const OAuth2Token = builder.objectRef<ShownToken>('OAuth2Token').implement({
  description: 'A token and its lifetime.',
  fields: (t) => ({
    token: t.exposeString('token', { description: 'The token.' }),
    issuedAt: t.expose('issuedAt', {
      type: 'DateTime',
      nullable: true,
      description: 'When it was issued, where that is known.',
    }),
    expiresAt: t.expose('expiresAt', {
      type: 'DateTime',
      nullable: true,
      description: 'When it ends, where that is known.',
    }),
  }),
});

const OAuth2Tokens = builder
  .objectRef<NonNullable<ShownCredentials['oauth2AuthorizationCode']>>('OAuth2Tokens')
  .implement({
    description: 'The tokens of an authorization.',
    fields: (t) => ({
      accessToken: t.expose('accessToken', {
        type: OAuth2Token,
        nullable: true,
        description: 'Authenticates calls.',
      }),
      refreshToken: t.expose('refreshToken', {
        type: OAuth2Token,
        nullable: true,
        description: 'Gets new access tokens.',
      }),
      scopes: t.exposeStringList('scopes', { description: 'The scopes that were granted.' }),
    }),
  });

export const ConnectionCredentials = builder
  .objectRef<ShownCredentials>('ConnectionCredentials')
  .implement({
    description: 'Credentials in clear: the one that the scheme has.',
    fields: (t) => ({
      apiKey: t.exposeString('apiKey', { nullable: true, description: 'An API key.' }),
      oauth2AuthorizationCode: t.expose('oauth2AuthorizationCode', {
        type: OAuth2Tokens,
        nullable: true,
        description: 'Tokens, with or without PKCE.',
      }),
    }),
  });
