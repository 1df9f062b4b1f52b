/** How the console and the connect page are bundled: relative addresses, no inline script, nothing from elsewhere. */
import { join } from 'node:path';
import { defineConfig, type Plugin } from 'vite';

const root = import.meta.dirname;

export default defineConfig({
  root,
  // The page may lie below a proxy's path: what it loads is found relative to it.
  base: './',
  plugins: [compiledOperations()],
  build: {
    target: 'es2022',
    // Small files as data: addresses would need them in the Content-Security-Policy.
    assetsInlineLimit: 0,
    modulePreload: { polyfill: false },
    reportCompressedSize: false,
    chunkSizeWarningLimit: 1_000,
    rolldownOptions: {
      input: { console: join(root, 'index.html'), connect: join(root, 'connect.html') },
    },
  },
});

const TAG = /\bgraphql`\s*(?:query|mutation|subscription|fragment)\s+(\w+)[^`]*`/g;

/** Puts what relay-compiler made of an operation in the place of its text, as Relay's own plugin for Babel does. */
function compiledOperations(): Plugin {
  return {
    name: 'compiled-operations',
    enforce: 'pre',
    transform(code, id) {
      if (!/\.tsx?$/.test(id) || !code.includes('graphql`')) return null;
      const names = new Set<string>();
      const replaced = code.replace(TAG, (_text, name: string) => {
        names.add(name);
        return `compiled_${name}`;
      });
      const imports = [...names].map((name) => {
        const path = join(root, '__generated__', `${name}.graphql.ts`);
        return `import compiled_${name} from ${JSON.stringify(path)};`;
      });
      return { code: `${imports.join('')}${replaced}`, map: null };
    },
  };
}
