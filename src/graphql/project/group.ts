import { listGroupConnections } from '../../domain/connection/list/connection-list.ts';
import { eraseGroup } from '../../domain/erasure/erase-subject.ts';
import { listGroupInstallations } from '../../domain/installation/installation-list.ts';
import { searchFilters } from '../../domain/paging/search.ts';
import { groupResource, listGroups } from '../../domain/project/group.ts';
import { listField } from '../schema/fields.ts';
import { addDeletions } from '../schema/mutations.ts';
import { objectType } from '../schema/object-type.ts';
import { parsedArgs } from '../schema/parsed-args.ts';
import { builder } from '../schema/schema-builder.ts';
import { ConnectedAccounts, Group, Groups, Installations, Project } from '../schema/types.ts';

objectType(Group, groupResource);

builder.objectField(Project, 'groups', (t) =>
  listField(t, Groups, {
    args: parsedArgs(t.arg, searchFilters),
    list: listGroups,
  }),
);

builder.objectFields(Group, (t) => ({
  connections: listField(t, ConnectedAccounts, {
    list: listGroupConnections,
  }),
  installations: listField(t, Installations, {
    list: listGroupInstallations,
  }),
}));

addDeletions({ eraseGroup });
