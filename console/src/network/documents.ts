/**
 * Loads the texts of operations, which people can open in GraphiQL. Pages send only the ids of operations.
 */
import { useEffect, useState } from 'react';
import { BASE } from './connection-state.ts';

type Documents = Record<string, string>;
let loading: Promise<Documents> | undefined;

/** All pages of a tab share one promise. After a failed load, the next use loads again. */
function readDocuments(): Promise<Documents> {
  loading ??= fetch(`${BASE}/console/documents.json`)
    .then((response) => response.json())
    .catch(() => {
      loading = undefined;
      return {};
    });
  return loading;
}

/** Null until loaded. */
export function useDocument(id: string): string | null {
  const [text, setText] = useState<string | null>(null);
  useEffect(() => {
    let isUnmounted = false;
    void readDocuments().then((documents) => {
      if (!isUnmounted) setText(documents[id] ?? null);
    });
    return () => {
      isUnmounted = true;
    };
  }, [id]);
  return text;
}
