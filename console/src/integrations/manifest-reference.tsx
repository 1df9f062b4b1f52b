/** The members of a manifest with their descriptions, from the schema. */
import { describeKind, findMembers, type Member, type Step } from './editor/members.ts';

export function ManifestReference() {
  return (
    <aside className="reference" aria-labelledby="reference-title">
      <h2 id="reference-title">Reference</h2>
      <Members path={[]} />
    </aside>
  );
}

function Members({ path }: { path: readonly Step[] }) {
  return (
    <ul>
      {Object.entries(findMembers(path) ?? {}).map(([name, member]) => (
        <li key={name}>
          <MemberEntry name={name} member={member} path={[...path, name]} />
        </li>
      ))}
    </ul>
  );
}

interface MemberEntryProps {
  name: string;
  member: Member;
  path: readonly Step[];
}

function MemberEntry({ name, member, path }: MemberEntryProps) {
  const { description, isList, isRequired } = member;
  const title = (
    <>
      <code>{name}</code>{' '}
      <span className="quiet">
        {describeKind(member)}
        {isRequired && ', required'}
      </span>
    </>
  );
  const valuePath = isList ? [...path, 0] : path;
  if (!findMembers(valuePath)) {
    return (
      <>
        {title}
        <p>{description}</p>
      </>
    );
  }
  return (
    <details>
      <summary>{title}</summary>
      <p>{description}</p>
      <Members path={valuePath} />
    </details>
  );
}
