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
import { addDeletions, addMutations } from '../schema/mutations.ts';
import { objectType } from '../schema/object-type.ts';
import { parsedArgs } from '../schema/parsed-args.ts';
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

addMutations('jwtKey', JwtKey, { createJwtKey, updateJwtKey });
addDeletions({ deleteJwtKey });
