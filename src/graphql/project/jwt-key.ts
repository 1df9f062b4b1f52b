import { keyFilters } from '../../domain/project/api-key.ts';
import {
  createJwtKey,
  deleteJwtKey,
  JWT_ALGORITHM,
  jwtKeyResource,
  listJwtKeys,
  updateJwtKey,
} from '../../domain/project/jwt-key.ts';
import { listField } from '../schema/fields.ts';
import { mutationField } from '../schema/mutation-field.ts';
import { objectType } from '../schema/object-type.ts';
import { parsedArgs } from '../schema/parsed-args.ts';
import { DeletePayload, payload } from '../schema/payloads.ts';
import { builder } from '../schema/schema-builder.ts';
import { JwtKey, JwtKeys, Project } from '../schema/types.ts';

objectType(JwtKey, jwtKeyResource, (t) => ({
  algorithm: t.string({
    description: 'Always `RS256`: tokens are signed with it.',
    resolve: () => JWT_ALGORITHM,
  }),
}));

builder.objectField(Project, 'jwtKeys', (t) =>
  listField(t, JwtKeys, {
    args: parsedArgs(t.arg, keyFilters),
    list: listJwtKeys,
  }),
);

builder.mutationFields((t) => ({
  createJwtKey: mutationField(t, createJwtKey, payload('createJwtKey', 'jwtKey', JwtKey)),
  updateJwtKey: mutationField(t, updateJwtKey, payload('updateJwtKey', 'jwtKey', JwtKey)),
  deleteJwtKey: mutationField(t, deleteJwtKey, DeletePayload),
}));
