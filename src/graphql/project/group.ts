import { listGroupConnections } from '../../domain/connection/list/connection-list.ts';
import { eraseGroup } from '../../domain/erasure/erase-subject.ts';
import { listGroupInstallations } from '../../domain/installation/installation-list.ts';
import { searchFilters } from '../../domain/paging/search.ts';
import { groupResource, listGroups } from '../../domain/project/group.ts';
import { addList } from '../schema/lists.ts';
import { addDeletions } from '../schema/mutations.ts';
import { objectType } from '../schema/object-type.ts';
import { ConnectedAccount, Group, Installation, Project } from '../schema/types.ts';

objectType(Group, groupResource);

addList(Project, 'groups', Group, listGroups, { filters: searchFilters });

addList(Group, 'connections', ConnectedAccount, listGroupConnections);
addList(Group, 'installations', Installation, listGroupInstallations);

addDeletions({ eraseGroup });
