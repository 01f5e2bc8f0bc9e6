/** The `prepare` script of npm. Plain JavaScript, so that a Node.js that is too old can say so. */
const { engines } = require('../package.json')

const [major, minor] = engines.node.match(/\d+/g).map(Number)
const [ownMajor, ownMinor] = process.versions.node.split('.').map(Number)
if (ownMajor < major || (ownMajor === major && ownMinor < minor)) {
  process.stderr.write(
    `Catraca needs Node.js ${major}.${minor} or newer; this is ${process.version}, and npm has none for ${process.platform}-${process.arch}.\n`,
  )
  process.exit(1)
}
void import('./prepare.ts')
