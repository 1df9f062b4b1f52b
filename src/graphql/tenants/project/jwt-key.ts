import { keyFilters } from '../../../domain/tenants/project/api-key.ts';
import {
  createJwtKey,
  deleteJwtKey,
  JWT_ALGORITHM,
  jwtKeyResource,
  listJwtKeys,
  updateJwtKey,
} from '../../../domain/tenants/project/jwt-key.ts';
import { addList } from '../../schema/lists.ts';
import { addDeletions, addMutations } from '../../schema/mutations.ts';
import { objectType } from '../../schema/object-type.ts';
import { JwtKey, Project } from '../../schema/types.ts';

objectType(JwtKey, jwtKeyResource, (t) => ({
  algorithm: t.string({
    description: 'The algorithm that signs the tokens: always `RS256`.',
    resolve: () => JWT_ALGORITHM,
  }),
}));

addList(Project, 'jwtKeys', JwtKey, listJwtKeys, { filters: keyFilters });

addMutations('jwtKey', JwtKey, { createJwtKey, updateJwtKey });
addDeletions({ deleteJwtKey });
