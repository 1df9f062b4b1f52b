/** Converts the flat inputs of REST and the domain to inputs of GraphQL. */

const GROUP_BY_MEMBER: Record<string, string> = {
  apiKey: 'credentials',
  basicAuth: 'credentials',
  oauth2ClientCredentials: 'credentials',
  oauth2PasswordCredentials: 'credentials',
  oauth2AuthorizationCode: 'credentials',
  customAuth: 'credentials',
  record: 'records',
  batch: 'records',
};

/** Moves members into the `@oneOf` inputs that contain them in GraphQL: `apiKey` into `credentials`, `batch` into `records`. */
export function toGraphqlInput(flat: object): Record<string, unknown> {
  const input: Record<string, unknown> = {};
  for (const [name, value] of Object.entries(flat)) {
    const group = GROUP_BY_MEMBER[name];
    if (group === undefined) input[name] = value;
    else input[group] = { ...(input[group] as object | undefined), [name]: value };
  }
  return input;
}
