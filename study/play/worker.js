// The worker of the page: a file system in memory for Go, and the simulator.
"use strict";
const files = new Map();
const opened = new Map();
let nextFile = 3;
const clean = name => {
  const parts = [];
  for (const p of name.split("/")) {
    if (p === ".." && parts.length && parts.at(-1) !== "..") parts.pop();
    else if (p && p !== ".") parts.push(p);
  }
  return parts.join("/");
};
const missing = () => Object.assign(new Error("no such file"), { code: "ENOENT" });
const entries = folder => {
  const under = folder ? folder + "/" : "";
  return [...new Set([...files.keys()].filter(n => n.startsWith(under)).map(n => n.slice(under.length).split("/")[0]))].sort();
};
const stat = name => {
  const data = files.get(name);
  if (!data && name && !entries(name).length) throw missing();
  const folder = !data, zero = { dev: 0, ino: 0, nlink: 1, uid: 0, gid: 0, rdev: 0, blksize: 4096, blocks: 0, atimeMs: 0, mtimeMs: 0, ctimeMs: 0 };
  return { ...zero, mode: folder ? 0o40755 : 0o100644, size: folder ? 0 : data.length, isDirectory: () => folder };
};
const answering = f => (...args) => {
  const done = args.pop();
  let value;
  try { value = f(...args); } catch (e) { return done(e); }
  done(null, value);
};
const decoder = new TextDecoder();
const refuse = answering(() => { throw Object.assign(new Error("read only"), { code: "EROFS" }); });
globalThis.fs = {
  constants: { O_WRONLY: 1, O_RDWR: 2, O_CREAT: 64, O_EXCL: 128, O_TRUNC: 512, O_APPEND: 1024, O_DIRECTORY: 65536 },
  writeSync(fd, bytes) { console.log(decoder.decode(bytes)); return bytes.length; },
  write(fd, bytes, offset, length, position, done) { done(null, this.writeSync(fd, bytes.subarray(offset, offset + length))); },
  open: answering((name, flags) => {
    name = clean(name);
    stat(name);
    if (flags & 3) throw Object.assign(new Error("read only"), { code: "EROFS" });
    opened.set(nextFile, { name, at: 0 });
    return nextFile++;
  }),
  close: answering(fd => { opened.delete(fd); }),
  stat: answering(name => stat(clean(name))),
  lstat: answering(name => stat(clean(name))),
  fstat: answering(fd => stat(opened.get(fd).name)),
  readdir: answering(name => entries(clean(name))),
  read: answering((fd, to, offset, length, position) => {
    const f = opened.get(fd), data = files.get(f.name);
    const from = position === null ? f.at : position, part = data.subarray(from, from + length);
    to.set(part, offset);
    if (position === null) f.at += part.length;
    return part.length;
  }),
  fsync: answering(() => {}),
};
for (const name of ["chmod", "chown", "fchmod", "fchown", "ftruncate", "lchown", "link", "mkdir", "readlink", "rename", "rmdir", "symlink", "truncate", "unlink", "utimes"]) fs[name] = refuse;
globalThis.process = { getuid: () => -1, getgid: () => -1, geteuid: () => -1, getegid: () => -1, getgroups: () => [], pid: -1, ppid: -1, umask: () => 0, cwd: () => "/", chdir() {} };

const bytesOf = text => {
  if (Uint8Array.fromBase64) return Uint8Array.fromBase64(text);
  const s = atob(text), b = new Uint8Array(s.length);
  for (let i = 0; i < s.length; i++) b[i] = s.charCodeAt(i);
  return b;
};
const started = new Promise(resolve => { globalThis.ready = resolve; });
async function start(program) {
  const go = new Go();
  const unpacked = new Response(new Blob([bytesOf(program)]).stream().pipeThrough(new DecompressionStream("gzip")), { headers: { "Content-Type": "application/wasm" } });
  const { instance } = await WebAssembly.instantiateStreaming(unpacked, go.importObject);
  go.run(instance).then(() => postMessage({ error: "the simulator has stopped: load the page again" }));
  await started;
}
onmessage = async ({ data: { id, program, add, request } }) => {
  for (const [name, data] of Object.entries(add ?? {})) files.set(clean(name), typeof data === "string" ? bytesOf(data) : data);
  try {
    if (program) await start(program);
  } catch (e) {
    return postMessage({ id, error: "this browser cannot run the simulator: " + e.message });
  }
  if (!request) return postMessage({ id });
  const began = performance.now();
  slotwave(JSON.stringify(request), (answer, bytes, error) => {
    const took = performance.now() - began;
    if (error) return postMessage({ id, error, took });
    postMessage({ id, answer: JSON.parse(answer), data: bytes.buffer, took }, [bytes.buffer]);
  });
};
