/** SQL for the peers without a data layer. Each statement is the fastest of those that we tried. */
import { OPERATION_FIELDS } from '../workloads.ts';

const quoteColumns = (fields: string) =>
  fields
    .split(' ')
    .map((field) => `"${field}"`)
    .join(', ');

const PROJECT_ID_BY_NAME = '(select id from "Project" where name = $1)';
const OPERATION_COLUMNS = `${quoteColumns(OPERATION_FIELDS)}, metadata`;

/** A page of operations below an id, or of the newest operations: `opr_~` is above every id. */
export const PAGE = `
  select ${OPERATION_COLUMNS} from "Operation" where "projectId" = ${PROJECT_ID_BY_NAME} and id < coalesce($2, 'opr_~') order by id desc limit $3`;

/** A page of operations of the project with the id $1. */
export const PAGE_OF_ID = PAGE.replace(PROJECT_ID_BY_NAME, '$1');

export const FIND_PROJECT = 'select id, name, "appName" from "Project" where name = $1';

export const CONNECTIONS = `
  select id, provider, "authScheme", status, "createTime", "groupId", "consumerId", "providerAppId"
  from "Connection" where "projectId" = $1 order by id desc limit $2`;

export const GROUPS =
  'select id, "groupRef", "groupName" from "Group" where id = any($1) and "projectId" = $2';
export const CONSUMERS =
  'select id, "consumerRef", "consumerName" from "Consumer" where id = any($1) and "projectId" = $2';
export const PROVIDER_APPS =
  'select id, provider, "clientId", scopes from "ProviderApp" where id = any($1) and "projectId" = $2';

export const FIND_OPERATION = `
  select id, "actionType", status, result, "createTime", "updateTime" from "Operation"
  where id = $1 and "projectId" = $2`;

export const CREATE_KEY = `
  insert into "ApiKey" (id, "projectId", label, scopes, prefix, hash)
  values ($1, (select id from "Project" where name = $2), $3, $4, $5, $6)
  returning id, label, scopes, active, prefix, "createTime"`;

export const CONNECTIONS_JOINED = `
  select project.id as "projectId", project.name as "projectName", project."appName",
    connection.id, connection.provider, connection."authScheme", connection.status, connection."createTime",
    customer.id as "groupId", customer."groupRef", customer."groupName",
    consumer.id as "consumerId", consumer."consumerRef", consumer."consumerName",
    app.id as "appId", app.provider as "appProvider", app."clientId", app.scopes
  from "Project" project
  cross join lateral (
    select * from "Connection" where "projectId" = project.id order by id desc limit 20) connection
  join "Group" customer
    on customer.id = connection."groupId" and customer."projectId" = project.id
  join "Consumer" consumer
    on consumer.id = connection."consumerId" and consumer."projectId" = project.id
  left join "ProviderApp" app
    on app.id = connection."providerAppId" and app."projectId" = project.id
  where project.name = $1 order by connection.id desc`;

/** Returns a row of CONNECTIONS_JOINED in the shape of the response. */
export function toConnectionNode(row: Record<string, unknown>) {
  const { id, provider, authScheme, status, createTime } = row;
  const { groupId, groupRef, groupName, consumerId, consumerRef, consumerName } = row;
  const { appId, appProvider, clientId, scopes } = row;
  return {
    id,
    provider,
    authScheme,
    status,
    createTime,
    group: { id: groupId, groupRef, groupName },
    consumer: { id: consumerId, consumerRef, consumerName },
    providerApp: appId ? { id: appId, provider: appProvider, clientId, scopes } : null,
  };
}
