/** The paths of Salesforce's REST API. */
import { checkObjectName } from './object-names.ts';

const API = '/services/data/v60.0';

export const paths = {
  /** The list of the API's resources. */
  api: API,
  userInfo: '/services/oauth2/userinfo',
  query: `${API}/query`,
  composite: `${API}/composite`,
  collection: `${API}/composite/sobjects`,
  records: (object: string) => `${API}/sobjects/${checkObjectName(object)}`,
  /** `id` must be validated by findRecordId. */
  record: (object: string, id: string) => `${API}/sobjects/${checkObjectName(object)}/${id}`,
  toolingQuery: `${API}/tooling/query`,
  customFields: `${API}/tooling/sobjects/CustomField`,
  /** `id` comes from a response of Salesforce. */
  customField: (id: string) => `${API}/tooling/sobjects/CustomField/${encodeURIComponent(id)}`,
  /** The list of deleted records of a period. */
  deleted: (object: string) => `${API}/sobjects/${checkObjectName(object)}/deleted`,
  tooling: (object: string) => `${API}/tooling/sobjects/${object}`,
  toolingRecord: (object: string, id: string) => `${API}/tooling/sobjects/${object}/${id}`,
  description: (object: string) => `${API}/sobjects/${checkObjectName(object)}/describe`,
};
