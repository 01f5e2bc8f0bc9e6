import { readFile } from 'node:fs/promises'
import { isFunctionLikeDeclaration, type Node } from 'typescript/unstable/ast'
import { createVirtualFileSystem } from 'typescript/unstable/fs'
import { API } from 'typescript/unstable/sync'

export interface MeasuredFunction {
  readonly file: string
  /** The text of its first line, which identifies a function without a name. */
  readonly line: number
  /** From its first line to its last one, without the comment above. */
  readonly length: number
}

/** Every function with a body, nested ones included. Files are parsed separately: no import is resolved. */
export async function measureFunctions(paths: readonly string[]): Promise<MeasuredFunction[]> {
  const files: Record<string, string> = {}
  for (const path of paths) files[path] = await readFile(path, 'utf8')
  const compilerOptions = { noResolve: true, noLib: true, types: [] }
  const project = '/tsconfig.json'
  const api = new API({
    cwd: '/',
    fs: createVirtualFileSystem({
      ...files,
      [project]: JSON.stringify({ compilerOptions, files: paths }),
    }),
  })
  try {
    const program = api.updateSnapshot({ openProjects: [project] }).getProject(project)?.program
    return paths.flatMap((file) => {
      const source = program?.getSourceFile(file)
      if (!source) throw new Error(`${file} was not parsed`)
      const lineOf = (position: number): number =>
        source.getLineAndCharacterOfPosition(position).line + 1
      return functionsIn(source).map((node) => {
        const line = lineOf(node.getStart(source))
        return { file, line, length: lineOf(node.end) - line + 1 }
      })
    })
  } finally {
    api.close()
  }
}

function functionsIn(node: Node): Node[] {
  const found: Node[] = isFunctionLikeDeclaration(node) ? [node] : []
  node.forEachChild((child) => {
    found.push(...functionsIn(child))
  })
  return found
}
