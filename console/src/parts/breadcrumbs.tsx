/** The path from the project to the open page. */
import { createContext, useContext } from 'react';
import { Link } from 'wouter';

interface Ancestor {
  name: string;
  path: string;
}

/** The pages above the open page, from the project down. */
export const AncestorsContext = createContext<readonly Ancestor[]>([]);

export function Breadcrumbs({ current }: { current: string }) {
  const ancestors = useContext(AncestorsContext);
  if (ancestors.length === 0) return null;
  return (
    <nav aria-label="Breadcrumb">
      <ol className="breadcrumbs">
        {ancestors.map(({ name, path }) => (
          <li key={path}>
            <Link href={path}>{name}</Link>
          </li>
        ))}
        <li aria-current="page">{current}</li>
      </ol>
    </nav>
  );
}
