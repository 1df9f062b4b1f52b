import { keyFilters } from '../../domain/project/api-key.ts';
import {
  createJwtKey,
  deleteJwtKey,
  JWT_ALGORITHM,
  listJwtKeys,
  updateJwtKey,
} from '../../domain/project/jwt-key.ts';
import { createdFields, listField, projectField, updateTimeField } from '../schema/fields.ts';
import { mutationField } from '../schema/mutation-field.ts';
import { Node } from '../schema/node-field.ts';
import { parsedArgs } from '../schema/parsed-args.ts';
import { DeletePayload, payload } from '../schema/payloads.ts';
import { builder } from '../schema/schema-builder.ts';
import { JwtKey, JwtKeys, Project } from '../schema/types.ts';

JwtKey.implement({
  description:
    "A key by which the builder's own server signs tokens of end users: JWTs whose header has its id as `kid`, with the claims `groupRef`, `consumerRef`, `iat` and `exp`, 600 seconds apart at most.",
  interfaces: [Node],
  fields: (t) => ({
    ...createdFields(t),
    label: t.exposeString('label', { description: 'The name that people gave it.' }),
    algorithm: t.string({
      description: 'Always `RS256`: tokens are signed with it.',
      resolve: () => JWT_ALGORITHM,
    }),
    publicKeyPem: t.exposeString('publicKeyPem', {
      description: 'The public half, as SPKI in PEM.',
    }),
    active: t.exposeBoolean('active', {
      description: 'Whether tokens that it has signed are accepted.',
    }),
    project: projectField(t),
    updateTime: updateTimeField(t),
  }),
});

builder.objectField(Project, 'jwtKeys', (t) =>
  listField(t, JwtKeys, {
    description: 'The JWT keys of the project, newest first.',
    args: parsedArgs(t.arg, keyFilters),
    list: listJwtKeys,
  }),
);

builder.mutationFields((t) => ({
  createJwtKey: mutationField(t, createJwtKey, {
    type: payload('CreateJwtKeyPayload', 'jwtKey', JwtKey, 'The JWT key. Its id is the `kid`.'),
    description:
      "Registers a JWT key, by which the builder's own server signs tokens of end users. They permit CONNECT, INSTALL and READ.",
  }),
  updateJwtKey: mutationField(t, updateJwtKey, {
    type: payload('UpdateJwtKeyPayload', 'jwtKey', JwtKey, 'The JWT key with its new values.'),
    description:
      'Changes a JWT key. Tokens of an inactive one are refused within a second, on open streams too.',
  }),
  deleteJwtKey: mutationField(t, deleteJwtKey, {
    type: DeletePayload,
    description:
      'Deletes a JWT key. Tokens that it has signed are refused within a second, on open streams too.',
  }),
}));
