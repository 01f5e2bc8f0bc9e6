import { constants } from 'node:fs'
import { access, copyFile, mkdir, open, readdir, rename, rm } from 'node:fs/promises'
import { dirname, join, resolve } from 'node:path'
import { MissingFile, type ArchiveStore } from './archive-store.ts'

/** A folder on this machine, or on a file system that all nodes mount. */
export function openFolderStore(root: string): ArchiveStore {
  const pathOf = (name: string): string => join(root, name)
  return {
    place: resolve(root),
    async put(name, localPath) {
      const path = pathOf(name)
      await mkdir(dirname(path), { recursive: true })
      const partPath = `${path}.part`
      await copyFile(localPath, partPath)
      await sync(partPath)
      await rename(partPath, path)
      // The names on the way to it, which a crash of the machine could lose.
      for (let folder = dirname(path); ; folder = dirname(folder)) {
        await sync(folder)
        if (resolve(folder) === resolve(root)) break
      }
    },
    async take(name) {
      const path = pathOf(name)
      await access(root)
      try {
        await access(path, constants.R_OK)
      } catch (error) {
        if ((error as { code?: string }).code === 'ENOENT') throw new MissingFile(name)
        throw error
      }
      return { path, async release() {} }
    },
    async list(folder) {
      try {
        const found = await readdir(pathOf(folder))
        return found.map((file) => `${folder}/${file}`)
      } catch (error) {
        if ((error as { code?: string }).code === 'ENOENT') return []
        throw error
      }
    },
    remove: (name) => rm(pathOf(name), { force: true }),
  }
}

async function sync(path: string): Promise<void> {
  const handle = await open(path, 'r')
  await handle.sync().finally(() => handle.close())
}
