/**
 * Loaded before a peer's program (`node --import`): makes its servers listen on 127.0.0.1 only, so that
 * the benchmark exposes nothing to the network.
 */
import { Server } from 'node:net'

type Listen = (...args: unknown[]) => Server

// Called with the server as `this`, below.
// eslint-disable-next-line typescript/unbound-method
const listen = Server.prototype.listen as Listen

const listenOnLoopback: Listen = function (this: Server, ...args) {
  const [port, ...rest] = args
  if (typeof port !== 'number') throw new Error('expected listen(port, ...)')
  const callback = rest.find((argument) => typeof argument === 'function')
  return listen.call(this, port, '127.0.0.1', callback)
}

Server.prototype.listen = listenOnLoopback as Server['listen']
